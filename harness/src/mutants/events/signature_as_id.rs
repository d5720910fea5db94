//! Takes the signature of a delivery for the id of its event, as text B's receiver reads it.

use std::sync::Arc;

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    middleware::{self, Next},
};
use http::{HeaderValue, Response};
use onceproof_gateway::{http::Front, store::Store, world::SharedWorld};
use serde_json::Value;

use super::re_encoded::BODY_MAX;
use crate::{mutants::Mutation, plan::SignatureScheme, sim::actors::whatsapp::sign};

const SIGNATURE: &str = "stripe-signature";

/// Every attempt is an event of its own: it is signed anew.
#[derive(Debug)]
pub struct SignatureAsId;

impl Mutation for SignatureAsId {
    fn front(&self, _world: &SharedWorld, _store: &Arc<dyn Store>) -> Option<Front> {
        Some(Front::new(|router| router.layer(middleware::from_fn(rename))))
    }
}

/// The event gets its signature as its id, and what is altered so is signed again, as of the same time.
async fn rename(request: Request, next: Next) -> Response<Body> {
    let Some(signature) =
        request.headers().get(SIGNATURE).and_then(|value| value.to_str().ok()).map(str::to_owned)
    else {
        return next.run(request).await;
    };
    let (mut head, body) = request.into_parts();
    // A body that breaks off has no signature.
    let bytes = to_bytes(body, BODY_MAX).await.unwrap_or_default();
    let renamed = renamed(&bytes, &signature);
    if let Some((_, header)) = &renamed {
        head.headers.insert(SIGNATURE, header.clone());
        head.headers.remove(http::header::CONTENT_LENGTH);
    }
    let body = renamed.map_or(bytes, |(body, _)| body.into());
    next.run(Request::from_parts(head, Body::from(body))).await
}

fn renamed(bytes: &[u8], signature: &str) -> Option<(String, HeaderValue)> {
    let mut event: Value = serde_json::from_slice(bytes).ok()?;
    *event.get_mut("id")? = signature.into();
    let seconds = signature.split(',').find_map(|part| part.strip_prefix("t="))?.parse().ok()?;
    let body = event.to_string();
    let signed = sign(Request::builder(), SignatureScheme::Stripe, "", seconds, body.as_bytes(), true);
    let header = signed.headers_ref()?.get(SIGNATURE)?.clone();
    Some((body, header))
}
