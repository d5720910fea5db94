//! `GET` and `POST /webhooks/{provider}`.

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Body,
    extract::{
        Path, Query, Request,
        rejection::{PathRejection, QueryRejection},
    },
    routing::get,
};
use bytes::Bytes;
use http::{HeaderValue, Response, header::CONTENT_TYPE};
use serde_json::Value;

use super::handshake::{Handshake, not_verified};
use crate::http::{Api, Problem, respond, whole};

pub(crate) fn routes() -> Router {
    Router::new().route("/webhooks/{provider}", get(shake).post(take))
}

async fn take(
    Extension(api): Extension<Arc<Api>>,
    provider: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response<Body> {
    respond(api.take_webhook(provider, request).await)
}

async fn shake(
    Extension(api): Extension<Arc<Api>>,
    provider: Result<Path<String>, PathRejection>,
    query: Result<Query<Handshake>, QueryRejection>,
) -> Response<Body> {
    match api.shake_hands(provider, query) {
        Ok(challenge) => {
            let mut response = Response::new(Body::from(challenge));
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
            response
        }
        Err(problem) => problem.into_response().map(Body::from),
    }
}

impl Api {
    async fn take_webhook(
        &self,
        provider: Result<Path<String>, PathRejection>,
        request: Request,
    ) -> Result<Value, Problem> {
        let receiver = self.receiver.as_ref().ok_or_else(Problem::unknown_route)?;
        let Path(provider) = provider.map_err(|_| Problem::unknown_route())?;
        let endpoint = receiver.endpoint(&provider)?;
        let (head, body) = request.into_parts();
        let protocol = &self.protocol;
        let body: Bytes = whole(&*protocol.world, protocol.policy.webhook_limit, body).await?;
        receiver.take(endpoint, &head.headers, &body).await
    }

    fn shake_hands(
        &self,
        provider: Result<Path<String>, PathRejection>,
        query: Result<Query<Handshake>, QueryRejection>,
    ) -> Result<String, Problem> {
        let receiver = self.receiver.as_ref().ok_or_else(Problem::unknown_route)?;
        let Path(provider) = provider.map_err(|_| Problem::unknown_route())?;
        let endpoint = receiver.endpoint(&provider)?;
        let Query(handshake) = query.map_err(|_| not_verified())?;
        handshake.answer(endpoint)
    }
}
