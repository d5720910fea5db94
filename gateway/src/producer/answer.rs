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
    let slug = body["type"].as_str().and_then(|name| name.strip_prefix(PROBLEM_TYPE_PREFIX)).unwrap_or("");
    let why = format!("{} {slug}", status.as_u16()).trim_end().to_owned();
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

/// Whether the status of a key says that its message was sent.
pub(super) fn read_status(outcome: &Result<Response<Bytes>, ClientError>) -> Option<Heard> {
    let response = outcome.as_ref().ok().filter(|response| response.status().is_success())?;
    let body = body(response);
    (body["status"] == "sent").then(|| Heard::Acted { id: id(&body) })
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
    fn a_status_proves_only_what_was_sent() {
        let status = |code, says: &str| {
            let body = json!({ "status": says, "messageId": "m1" }).to_string();
            read_status(&Ok(Response::builder().status(code).body(Bytes::from(body)).unwrap()))
        };
        assert_eq!(status(200, "sent"), Some(Heard::Acted { id: Some("m1".into()) }));
        for says in ["sending", "unknown", "failed"] {
            assert_eq!(status(200, says), None, "{says}");
        }
        assert_eq!(status(404, "sent"), None);
        assert_eq!(read_status(&Err(ClientError::Timeout)), None);
    }
}
