//! Answers whoever has the key.

use std::sync::Arc;

use axum::{
    extract::Request,
    middleware::{self, Next},
};
use http::{HeaderValue, header::AUTHORIZATION};
use onceproof_gateway::{http::Front, store::Store, world::SharedWorld};

use super::field_order::slot;
use crate::{mutants::Mutation, sim::actors::producer::TENANTS};

/// A request with a key needs no token.
#[derive(Debug)]
pub struct NoToken;

impl Mutation for NoToken {
    fn front(&self, _world: &SharedWorld, _store: &Arc<dyn Store>) -> Option<Front> {
        Some(Front::new(|router| router.layer(middleware::from_fn(admit))))
    }
}

async fn admit(mut request: Request, next: Next) -> http::Response<axum::body::Body> {
    let instance = slot(&request).and_then(|slot| slot.scope.split_once('/').map(|(id, _)| id.to_owned()));
    if let Some(tenant) = TENANTS.iter().find(|tenant| Some(tenant.instance) == instance.as_deref())
        && let Ok(token) = HeaderValue::try_from(format!("Bearer {}", tenant.token))
    {
        request.headers_mut().insert(AUTHORIZATION, token);
    }
    next.run(request).await
}
