//! Errors as RFC 9457 problem documents, whose `type` is stable: `urn:onceproof:problem:<slug>`.
//!
//! | Slug | Status | Cause, and what becomes of the key |
//! |---|---|---|
//! | `unauthorized` | 401 | the bearer token is missing or wrong; no key was read |
//! | `unknown-instance` | 404 | there is no such instance; no key was read |
//! | `unknown-route`, `unknown-method` | 404, 405 | nothing is there, or not by this method |
//! | `bad-key` | 400 | the key is empty, too long, twice there, or no key at all (S3) |
//! | `bad-body`, `bad-json`, `bad-form` | 400 | the body was cut off, is not JSON or has a name twice, or is no form (S3, S8); nothing was claimed |
//! | `bad-body` | 408 | the body did not arrive in time; nothing was claimed |
//! | `body-too-large` | 413 | over the limit of JSON or of a form (S8); nothing was claimed |
//! | `unsupported-content` | 415 | a form where the route takes JSON |
//! | `too-many-uploads` | 503 | as many uploads as are allowed at a time are here already; nothing was claimed |
//! | `invalid-message` | 400 | a member is missing or wrong, which counts for a fresh claim only; the key is free |
//! | `key-reused` | 422 | the key was used with other content, which may be freed later (S3) |
//! | `in-flight` | 409 | the first still runs, with `Retry-After` (S4) |
//! | `key-expired` | 410 | the message was sent, and its answer is no longer kept (S5) |
//! | `message-refused` | the provider's 400, 404, 429 | the provider did not accept it; the key is free (S6) |
//! | `provider-refused` | 502 | the provider does not accept the gateway's own token; the key is free |
//! | `not-sent` | 503 | nothing was sent; the key is free |
//! | `store-unavailable` | 503 | nothing was sent, for the key could not be protected (S7) |
//! | `outcome-unknown` | 504, or 502 where it is stored | the message may have been sent; `reference` and `statusUrl` tell more (S10, S11) |
//! | `unknown-message` | 404 | there is no record of such a message (S11) |
//! | `too-early`, `settled`, `not-unknown` | 409, 409, 404 | the operator's word does not settle the message (yet) |
//! | `bad-signature` | 400 | a webhook's signature is missing, wrong or too old (W2); there is no trace of it |
//! | `bad-event` | 400 | a webhook is not JSON, or has no id that can be one (W3); there is no trace of it |
//! | `too-many-items` | 413 | a batch has more items than one transaction takes (W4) |
//! | `not-verified` | 403 | the handshake's token is missing or wrong (W2) |
//! | `unknown-provider` | 404 | there is no webhook of this provider |
//! | `not-owned` | 503 | the store did not confirm in time that it has the event (W6) |
//! | `unknown-letter`, `not-dead`, `too-old` | 404, 409, 409 | the dead letter is not there, not dead (any more), or past the age at which it is redriven (W8) |

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use serde_json::{Map, Value, json};

use crate::store::StoredAnswer;

/// What every problem's `type` begins with; the slug follows.
pub const PROBLEM_TYPE_PREFIX: &str = "urn:onceproof:problem:";

/// Borne, with the value `true`, by a definite replay and by nothing else (S2).
pub const REPLAY: HeaderName = HeaderName::from_static("x-idempotent-replay");

/// Borne, with the value `store-down`, by the response to a send whose key protected nothing (S7).
pub const UNPROTECTED: HeaderName = HeaderName::from_static("x-idempotency-unprotected");

const PROBLEM_JSON: &str = "application/problem+json";

/// One error.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    status: StatusCode,
    slug: &'static str,
    detail: String,
    members: Map<String, Value>,
    headers: Vec<(HeaderName, String)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, slug: &'static str, detail: impl ToString) -> Self {
        Self { status, slug, detail: detail.to_string(), members: Map::new(), headers: Vec::new() }
    }

    /// 504: the message may have been sent; `reference` is what to ask the status by (S11).
    pub(crate) fn outcome_unknown(status: StatusCode, reference: &str, why: &str) -> Self {
        Self::new(status, "outcome-unknown", why)
            .with("reference", reference)
            .with("statusUrl", format!("/v1/messages/{reference}/status"))
    }

    /// 503: nothing was sent; the same key may be used again.
    pub(crate) fn not_sent(why: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "not-sent", why).retry_after("1")
    }

    /// 503: nothing was sent, since the key could not be protected (S7).
    pub(crate) fn store_unavailable(why: impl ToString) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "store-unavailable", why).retry_after("1")
    }

    /// 404: no such route.
    pub(crate) fn unknown_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "unknown-route", "there is nothing here")
    }

    /// 404: no record of such a message.
    pub(crate) fn unknown_message() -> Self {
        Self::new(StatusCode::NOT_FOUND, "unknown-message", "there is no record of such a message")
    }

    /// 401.
    pub(crate) fn unauthorized() -> Self {
        let mut problem =
            Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "the bearer token is missing or wrong");
        problem.headers.push((WWW_AUTHENTICATE, "Bearer".to_owned()));
        problem
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn retry_after(mut self, value: &str) -> Self {
        self.headers.push((RETRY_AFTER, value.to_owned()));
        self
    }

    pub(crate) fn into_response(self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(self.body()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
        response
    }

    /// The problem as an answer that is stored and replayed (S6, `ietf-gateway`).
    pub(crate) fn to_stored(&self) -> StoredAnswer {
        StoredAnswer {
            status: self.status.as_u16(),
            headers: vec![(CONTENT_TYPE.to_string(), PROBLEM_JSON.to_owned())],
            body: self.body(),
            message_id: None,
        }
    }

    fn body(&self) -> String {
        let mut document = self.members.clone();
        document.insert("type".into(), json!(format!("{PROBLEM_TYPE_PREFIX}{}", self.slug)));
        document.insert("title".into(), json!(self.slug.replace('-', " ")));
        document.insert("status".into(), json!(self.status.as_u16()));
        document.insert("detail".into(), json!(self.detail));
        Value::Object(document).to_string()
    }
}
