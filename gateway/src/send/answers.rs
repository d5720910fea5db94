//! What callers are told.

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, LOCATION},
};
use serde_json::json;

use super::protocol::SendRequest;
use crate::{
    http::{Problem, REPLAY},
    message::{Made, MessageError},
    provider::Refusal,
    store::{Slot, State, StoredAnswer, View},
};

/// The answer to what the provider accepted under this key, as it is stored and replayed (S2).
pub(crate) fn sent(slot: &Slot, id: &str) -> StoredAnswer {
    made(Made::in_scope(&slot.scope), id)
}

/// The answer to what the provider made, whose id there is `id`.
pub(super) fn made(made: Made, id: &str) -> StoredAnswer {
    let mut headers = vec![(CONTENT_TYPE.to_string(), "application/json".to_owned())];
    let (status, body) = match made {
        Made::Message => (StatusCode::OK, json!({ "messageId": id, "status": "sent" })),
        Made::Instance => {
            headers.push((LOCATION.to_string(), format!("/v1/instances/{id}")));
            (StatusCode::CREATED, json!({ "instanceId": id, "status": "created" }))
        }
    };
    StoredAnswer { status: status.as_u16(), headers, body: body.to_string(), message_id: Some(id.to_owned()) }
}

/// The answer to what the operator says was made under this key, with an id that nobody knows.
pub(crate) fn sent_by_word(slot: &Slot, reference: &str) -> StoredAnswer {
    let (status, body) = match Made::in_scope(&slot.scope) {
        Made::Message => {
            (StatusCode::OK, json!({ "messageId": null, "status": "sent", "reference": reference }))
        }
        Made::Instance => {
            (StatusCode::CREATED, json!({ "instanceId": null, "status": "created", "reference": reference }))
        }
    };
    let headers = vec![(CONTENT_TYPE.to_string(), "application/json".to_owned())];
    StoredAnswer { status: status.as_u16(), headers, body: body.to_string(), message_id: None }
}

/// A stored answer on its way to whoever asked first.
pub(super) fn first(answer: &StoredAnswer) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(answer.body.clone()));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// What the table says to a repetition that meets a record which is no longer in flight.
pub(super) fn repeated(view: &View) -> Response<Bytes> {
    match (view.state, &view.answer) {
        (State::Done, Some(answer)) => {
            let mut response = first(answer);
            response.headers_mut().insert(REPLAY, HeaderValue::from_static("true"));
            response
        }
        (State::Tombstone, _) => expired(view),
        _ => unknown(
            view.reference.as_deref().unwrap_or_default(),
            "whether the message was sent cannot be told yet",
        ),
    }
}

/// 504, with our reference.
pub(super) fn unknown(reference: &str, why: &str) -> Response<Bytes> {
    Problem::outcome_unknown(StatusCode::GATEWAY_TIMEOUT, reference, why).into_response()
}

/// A definite refusal. The provider's 401 and 403 concern our token there: the caller's own is good.
pub(super) fn refused(refusal: &Refusal) -> Response<Bytes> {
    let is_ours = matches!(refusal.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let problem = match is_ours {
        true => Problem::new(StatusCode::BAD_GATEWAY, "provider-refused", "the provider refused the gateway"),
        false => Problem::new(refusal.status, "message-refused", &refusal.message),
    };
    let problem = problem.with("providerError", json!({ "code": refusal.code, "message": refusal.message }));
    match &refusal.retry_after {
        Some(value) => problem.retry_after(value).into_response(),
        None => problem.into_response(),
    }
}

/// 422, in every state (S3).
pub(super) fn mismatch() -> Response<Bytes> {
    let why = "this key was used with other content";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "key-reused", why).into_response()
}

/// 400.
pub(super) fn invalid(error: MessageError) -> Response<Bytes> {
    Problem::new(StatusCode::BAD_REQUEST, "invalid-message", error).into_response()
}

/// What a request that the store found inadmissible is told.
pub(super) fn inadmissible(request: &SendRequest) -> Response<Bytes> {
    match &request.order {
        Err(error) => invalid(*error),
        Ok(_) => Problem::store_unavailable("the store refused a valid request").into_response(),
    }
}

fn expired(view: &View) -> Response<Bytes> {
    let why = "the message was sent; its answer is no longer kept";
    Problem::new(StatusCode::GONE, "key-expired", why)
        .with("messageId", view.message_id.clone())
        .into_response()
}
