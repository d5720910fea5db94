//! What became of a message: by the provider's id, by our reference, or by its key (S11). A tenant sees only its own.

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Body,
    extract::{Path, rejection::PathRejection},
    routing::get,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, header::CONTENT_TYPE};
use serde_json::{Value, json};

use super::{Problem, api::Api, route::Route};
use crate::{
    message::INSTANCES_SCOPE,
    store::{Delivery, Reply, Slot, Sought, State as RecordState, View, Whose},
};

/// Route and key of a key's status are percent-encoded, so that each is one segment.
pub(super) fn routes() -> Router {
    Router::new()
        .route("/v1/messages/{id}/status", get(by_message))
        .route("/v1/instances/{instance}/keys/{route}/{key}/status", get(by_key))
}

async fn by_message(
    Extension(api): Extension<Arc<Api>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response<Body> {
    let answer = async {
        let whose = api.access.whose(&headers)?;
        let Path(id) = id.map_err(|_| Problem::unknown_message())?;
        api.look_up(Sought::Message { id }, whose).await
    };
    respond(answer.await)
}

async fn by_key(
    Extension(api): Extension<Arc<Api>>,
    names: Result<Path<(String, String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Response<Body> {
    let answer = async {
        let Path((instance, route, key)) = names.map_err(|_| Problem::unknown_message())?;
        let scope = format!("{instance}/{route}");
        if scope == INSTANCES_SCOPE {
            api.access.account(&headers)?;
        } else {
            api.access.sender(&instance, &headers)?;
            // Two instances have no scope of a known route in common.
            if Route::ALL.iter().all(|known| known.name() != route) {
                return Err(Problem::unknown_message());
            }
        }
        api.look_up(Sought::Key { slot: Slot { scope, key } }, Whose::Anybodys).await
    };
    respond(answer.await)
}

/// A JSON answer, or the problem.
pub(crate) fn respond(answer: Result<Value, Problem>) -> Response<Body> {
    let response = match answer {
        Ok(value) => {
            let mut response = Response::new(Bytes::from(value.to_string()));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        Err(problem) => problem.into_response(),
    };
    response.map(Body::from)
}

impl Api {
    async fn look_up(&self, sought: Sought, whose: Whose) -> Result<Value, Problem> {
        match self.protocol.ledger.find(sought, whose).await {
            Ok(Reply::Found { view, delivery, .. }) => Ok(status(&view, delivery)),
            Ok(_) => Err(Problem::unknown_message()),
            Err(error) => Err(Problem::store_unavailable(error)),
        }
    }
}

fn status(view: &View, delivery: Option<Delivery>) -> Value {
    let is_error = view.answer.as_ref().is_some_and(|answer| !(200..300).contains(&answer.status));
    let status = match view.state {
        RecordState::Claimed | RecordState::Dispatching => "sending",
        RecordState::Unknown => "unknown",
        // A stored error: only a policy that stores what cannot be told has one (S6).
        RecordState::Done if is_error => "failed",
        RecordState::Done | RecordState::Tombstone => "sent",
    };
    let mut told = json!({ "status": status, "reference": view.reference, "messageId": view.message_id });
    if let Some(delivery) = delivery {
        told["delivery"] = json!(delivery);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::sent;

    #[test]
    fn a_stored_error_is_failed_and_not_sent() {
        let view = |answer| View {
            state: RecordState::Done,
            claim_id: "c".into(),
            token: 1,
            reference: Some("r".into()),
            answer: Some(answer),
            message_id: None,
        };
        let slot = Slot { scope: "loja-1/messages/text".into(), key: "k".into() };
        let error = Problem::outcome_unknown(http::StatusCode::GATEWAY_TIMEOUT, "r", "").to_stored();
        assert_eq!(status(&view(error), None)["status"], "failed");
        assert_eq!(status(&view(sent(&slot, "m1")), None)["status"], "sent");
    }
}
