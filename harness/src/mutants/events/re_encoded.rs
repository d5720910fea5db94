//! Verifies a signature over JSON that it has written itself.

use std::sync::Arc;

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    middleware::{self, Next},
};
use http::Response;
use onceproof_gateway::{http::Front, store::Store, world::SharedWorld};
use serde_json::Value;

use crate::mutants::Mutation;

/// More than any body of a plan.
pub(super) const BODY_MAX: usize = 16 * 1024 * 1024;

/// The body is parsed first.
#[derive(Debug)]
pub struct ReEncoded;

impl Mutation for ReEncoded {
    fn front(&self, _world: &SharedWorld, _store: &Arc<dyn Store>) -> Option<Front> {
        Some(Front::new(|router| router.layer(middleware::from_fn(re_encode))))
    }
}

async fn re_encode(request: Request, next: Next) -> Response<Body> {
    if !request.uri().path().starts_with("/webhooks/") {
        return next.run(request).await;
    }
    let (mut head, body) = request.into_parts();
    // A body that breaks off has no signature.
    let bytes = to_bytes(body, BODY_MAX).await.unwrap_or_default();
    let written = serde_json::from_slice::<Value>(&bytes).map_or(bytes, |value| value.to_string().into());
    head.headers.remove(http::header::CONTENT_LENGTH);
    next.run(Request::from_parts(head, Body::from(written))).await
}
