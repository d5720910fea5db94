//! The routes. Order of checks: authentication → key syntax → size and parse → look-up → validation.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State, rejection::PathRejection},
    routing::post,
};
use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode, header::AUTHORIZATION};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use subtle::ConstantTimeEq;

use super::Problem;
use crate::{
    fingerprint, key,
    message::TextMessage,
    send::{Protocol, SendRequest},
    store::Slot,
    world::within,
};

/// The canonical route, whatever the prefix (S1, S9).
const TEXT_ROUTE: &str = "messages/text";

/// How long a body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// A sender: one tenant's number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Its name in the path, and the first part of the scope of its keys (S9).
    pub id: String,
    /// Its callers' bearer token.
    pub token: String,
    /// Its number at the provider.
    pub phone_number_id: String,
}

/// What the routes share.
pub(crate) struct Api {
    pub(crate) protocol: Arc<Protocol>,
    pub(crate) instances: BTreeMap<String, Instance>,
}

/// `POST /v1/instances/{id}/messages/text` (B) and `POST /api/instances/{id}/messages/text` (D): one canonical
/// route (S1).
pub(crate) fn router(api: Arc<Api>) -> Router {
    Router::new()
        .route("/v1/instances/{id}/messages/text", post(send_text))
        .route("/api/instances/{id}/messages/text", post(send_text))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .with_state(api)
}

async fn no_route() -> Response<Body> {
    let problem = Problem::new(StatusCode::NOT_FOUND, "unknown-route", "there is nothing here");
    problem.into_response().map(Body::from)
}

async fn no_method() -> Response<Body> {
    let why = "this route is posted to";
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "unknown-method", why);
    problem.into_response().map(Body::from)
}

async fn send_text(
    State(api): State<Arc<Api>>,
    id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response<Body> {
    // An id that is not text is nobody's.
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let response = match api.read(&id, request).await {
        Ok(request) => api.protocol.clone().send(request).await,
        Err(problem) => problem.into_response(),
    };
    response.map(Body::from)
}

impl Api {
    async fn read(&self, id: &str, request: Request) -> Result<SendRequest, Problem> {
        let (head, body) = request.into_parts();
        let instance = self.authenticate(id, &head.headers)?;
        let key = key::from_headers(&head.headers)
            .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "bad-key", error))?;
        let body = self.read_body(body).await?;
        let bad_json = |error| Problem::new(StatusCode::BAD_REQUEST, "bad-json", error);
        let value = fingerprint::parse(&body).map_err(bad_json)?;
        Ok(SendRequest {
            phone_number_id: instance.phone_number_id.clone(),
            slot: key.map(|key| Slot { scope: format!("{}/{TEXT_ROUTE}", instance.id), key }),
            fingerprint: fingerprint::of_value(&value).map_err(bad_json)?,
            message: TextMessage::from_value(&value),
        })
    }

    fn authenticate(&self, id: &str, headers: &HeaderMap) -> Result<&Instance, Problem> {
        let instance = self.instances.get(id).ok_or_else(|| {
            let why = "there is no such instance";
            Problem::new(StatusCode::NOT_FOUND, "unknown-instance", why)
        })?;
        let token = bearer_token(headers).ok_or_else(Problem::unauthorized)?;
        match bool::from(token.as_bytes().ct_eq(instance.token.as_bytes())) {
            true => Ok(instance),
            false => Err(Problem::unauthorized()),
        }
    }

    async fn read_body(&self, body: Body) -> Result<Bytes, Problem> {
        let protocol = &self.protocol;
        let limit = protocol.policy.body_limit;
        let whole = Limited::new(body, limit).collect();
        match within(&*protocol.world, BODY_PATIENCE, whole).await {
            Some(Ok(body)) => Ok(body.to_bytes()),
            Some(Err(error)) if error.is::<LengthLimitError>() => Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "body-too-large",
                format!("the body is over {limit} bytes"),
            )),
            Some(Err(error)) => Err(Problem::new(StatusCode::BAD_REQUEST, "bad-body", error)),
            None => {
                Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "bad-body", "the body did not arrive in time"))
            }
        }
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    (values.next().is_none() && scheme.eq_ignore_ascii_case("bearer")).then(|| token.trim())
}
