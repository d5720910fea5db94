//! What a producer makes of the gateway's answers.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode, header::RETRY_AFTER};
use serde_json::Value;

use crate::{client::ClientError, http::PROBLEM_TYPE_PREFIX};

/// The longest `Retry-After` that is heeded.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// What is known after an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// It acted, and this is what it made: a message or an instance.
    Acted {
        /// The provider's id, where the answer bears it.
        id: Option<String>,
    },
    /// This attempt was refused for good. That speaks for this attempt alone: an earlier one may have acted.
    Refused(String),
    /// The key is another content's. It may be freed later, and its status says nothing of this order.
    KeyTaken(String),
    /// Not definite: the same key again, no sooner than asked.
    Again {
        /// What the answer says of when to come back.
        pause: Option<Duration>,
        /// What was heard.
        why: String,
    },
}

/// Reads what came of an attempt.
pub(super) fn read(outcome: &Result<Response<Bytes>, ClientError>) -> Heard {
    let response = match outcome {
        Ok(response) => response,
        Err(error) => return Heard::Again { pause: None, why: error.to_string() },
    };
    let (status, body) = (response.status(), body(response));
    let why = format!("{} {}", status.as_u16(), slug(&body)).trim_end().to_owned();
    match status {
        _ if status.is_success() => Heard::Acted { id: id(&body) },
        // The message was sent; its answer is no longer kept.
        StatusCode::GONE => Heard::Acted { id: id(&body) },
        StatusCode::UNPROCESSABLE_ENTITY => Heard::KeyTaken(why),
        StatusCode::REQUEST_TIMEOUT
        | StatusCode::CONFLICT
        | StatusCode::TOO_EARLY
        | StatusCode::TOO_MANY_REQUESTS => Heard::Again { pause: retry_after(response), why },
        _ if status.is_client_error() => Heard::Refused(why),
        _ => Heard::Again { pause: retry_after(response), why },
    }
}

/// What the status of a key says of its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyStatus {
    /// It was sent.
    Sent {
        /// The provider's id, where it is known.
        id: Option<String>,
    },
    /// There is no record: nothing that bore the key has acted.
    Free,
    /// Nobody says.
    Open,
}

/// Reads the status of a key.
pub(super) fn read_status(outcome: &Result<Response<Bytes>, ClientError>) -> KeyStatus {
    let Ok(response) = outcome else { return KeyStatus::Open };
    let body = body(response);
    match response.status() {
        status if status.is_success() && body["status"] == "sent" => KeyStatus::Sent { id: id(&body) },
        StatusCode::NOT_FOUND if slug(&body) == "unknown-message" => KeyStatus::Free,
        _ => KeyStatus::Open,
    }
}

fn slug(body: &Value) -> &str {
    body["type"].as_str().and_then(|name| name.strip_prefix(PROBLEM_TYPE_PREFIX)).unwrap_or("")
}

fn body(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap_or_default()
}

fn id(body: &Value) -> Option<String> {
    let text = |member: &str| body[member].as_str().map(str::to_owned);
    text("messageId").or_else(|| text("instanceId"))
}

/// In seconds; a date is not read, and the usual pause is made.
fn retry_after(response: &Response<Bytes>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn heard(status: u16, body: &Value) -> Heard {
        let response = Response::builder().status(status).header(RETRY_AFTER, "7");
        read(&Ok(response.body(Bytes::from(body.to_string())).unwrap()))
    }

    #[test]
    fn only_what_is_definite_ends_a_step() {
        let acted = |id: Option<&str>| Heard::Acted { id: id.map(str::to_owned) };
        assert_eq!(heard(200, &json!({ "messageId": "m1" })), acted(Some("m1")));
        assert_eq!(heard(201, &json!({ "instanceId": "i1" })), acted(Some("i1")));
        assert_eq!(heard(410, &json!({ "messageId": "m1" })), acted(Some("m1")), "it was sent");
        assert_eq!(heard(200, &json!("?")), acted(None));
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 302] {
            let Heard::Again { pause, .. } = heard(status, &json!({})) else { panic!("{status}") };
            assert_eq!(pause, Some(Duration::from_secs(7)), "{status}");
        }
        let problem = |slug: &str| json!({ "type": format!("{PROBLEM_TYPE_PREFIX}{slug}") });
        assert_eq!(heard(400, &problem("invalid-message")), Heard::Refused("400 invalid-message".into()));
        assert_eq!(heard(422, &problem("key-reused")), Heard::KeyTaken("422 key-reused".into()));
        let lost = read(&Err(ClientError::Timeout));
        assert_eq!(lost, Heard::Again { pause: None, why: ClientError::Timeout.to_string() });
    }

    #[test]
    fn a_status_proves_only_what_was_sent_or_is_free() {
        let status = |code: u16, says: &str| {
            let kind = format!("{PROBLEM_TYPE_PREFIX}{says}");
            let body = json!({ "status": says, "messageId": "m1", "type": kind }).to_string();
            read_status(&Ok(Response::builder().status(code).body(Bytes::from(body)).unwrap()))
        };
        assert_eq!(status(200, "sent"), KeyStatus::Sent { id: Some("m1".into()) });
        assert_eq!(status(404, "unknown-message"), KeyStatus::Free);
        for (code, says) in [(200, "sending"), (200, "unknown"), (200, "failed"), (404, "sent"), (401, "x")] {
            assert_eq!(status(code, says), KeyStatus::Open, "{code} {says}");
        }
        assert_eq!(read_status(&Err(ClientError::Timeout)), KeyStatus::Open);
    }
}
