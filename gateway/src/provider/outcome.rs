//! What a request to the provider came to. Whatever is in no row of the table is ambiguous.

use http::{Response, StatusCode, header::RETRY_AFTER};
use serde::Deserialize;

/// The statuses that WhatsApp documents as "not accepted", if its error body comes with them.
const DEFINITE_REFUSALS: &[StatusCode] = &[
    StatusCode::BAD_REQUEST,
    StatusCode::UNAUTHORIZED,
    StatusCode::FORBIDDEN,
    StatusCode::NOT_FOUND,
    StatusCode::TOO_MANY_REQUESTS,
];

/// The four classes of outcomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The provider accepted the message.
    Success {
        /// Its id of the message.
        message_id: String,
    },
    /// Not one byte was written.
    NotSent {
        /// What stood in the way.
        why: String,
    },
    /// The provider says that it did not accept the message.
    Refused(Refusal),
    /// The message may have been accepted, or may still be.
    Ambiguous {
        /// What was seen.
        why: String,
        /// Whether the provider answered at all.
        is_answered: bool,
    },
}

/// A definite refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The provider's status.
    pub status: StatusCode,
    /// The provider's error code.
    pub code: i64,
    /// The provider's words.
    pub message: String,
    /// Its `Retry-After`, passed on as it is.
    pub retry_after: Option<String>,
}

#[derive(Deserialize)]
struct Accepted {
    messages: Vec<AcceptedMessage>,
}

#[derive(Deserialize)]
struct AcceptedMessage {
    id: String,
}

#[derive(Deserialize)]
struct Failed {
    error: FailedError,
}

#[derive(Deserialize)]
struct FailedError {
    code: i64,
    message: String,
}

/// The class of a whole response.
#[must_use]
pub fn classify(response: &Response<bytes::Bytes>) -> Outcome {
    let status = response.status();
    if status.is_success() {
        return accepted(response.body()).map_or_else(
            || ambiguous(format!("a {status} without a message id")),
            |message_id| Outcome::Success { message_id },
        );
    }
    if !DEFINITE_REFUSALS.contains(&status) {
        return ambiguous(format!("the provider answered {status}"));
    }
    match serde_json::from_slice::<Failed>(response.body()) {
        Ok(Failed { error }) => Outcome::Refused(Refusal {
            status,
            code: error.code,
            message: error.message,
            retry_after: retry_after(response),
        }),
        Err(_) => ambiguous(format!("a {status} without the provider's error body")),
    }
}

fn accepted(body: &[u8]) -> Option<String> {
    let accepted: Accepted = serde_json::from_slice(body).ok()?;
    let id = accepted.messages.into_iter().next()?.id;
    (!id.is_empty()).then_some(id)
}

fn retry_after(response: &Response<bytes::Bytes>) -> Option<String> {
    let value = response.headers().get(RETRY_AFTER)?;
    value.to_str().ok().map(str::to_owned)
}

fn ambiguous(why: String) -> Outcome {
    Outcome::Ambiguous { why, is_answered: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: &str = r#"{"error":{"code":131026,"message":"undeliverable"}}"#;
    const TAKEN: &str = r#"{"messaging_product":"whatsapp","messages":[{"id":"wamid.1"}]}"#;

    fn class(status: u16, body: &'static str) -> &'static str {
        let mut response = Response::new(bytes::Bytes::from_static(body.as_bytes()));
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        match classify(&response) {
            Outcome::Success { .. } => "success",
            Outcome::NotSent { .. } => "not sent",
            Outcome::Refused(_) => "refused",
            Outcome::Ambiguous { .. } => "ambiguous",
        }
    }

    #[test]
    fn the_table_decides() {
        for (status, body, expected) in [
            (200, TAKEN, "success"),
            (201, TAKEN, "success"),
            (200, "{}", "ambiguous"),
            (200, r#"{"messages":[]}"#, "ambiguous"),
            (200, r#"{"messages":[{"id":""}]}"#, "ambiguous"),
            (200, r#"{"messages":[{"id":"wam"#, "ambiguous"),
            (302, TAKEN, "ambiguous"),
            (400, ERROR, "refused"),
            (401, ERROR, "refused"),
            (403, ERROR, "refused"),
            (404, ERROR, "refused"),
            (429, ERROR, "refused"),
            (400, "<html>", "ambiguous"),
            (404, r#"{"error":"no"}"#, "ambiguous"),
            (429, "", "ambiguous"),
            (408, ERROR, "ambiguous"),
            (409, ERROR, "ambiguous"),
            (422, ERROR, "ambiguous"),
            (500, ERROR, "ambiguous"),
            (502, "", "ambiguous"),
            (503, ERROR, "ambiguous"),
            (503, "", "ambiguous"),
        ] {
            assert_eq!(class(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn retry_after_is_kept() {
        let response = Response::builder()
            .status(429)
            .header("retry-after", "7")
            .body(bytes::Bytes::from_static(ERROR.as_bytes()))
            .unwrap();
        let Outcome::Refused(refusal) = classify(&response) else {
            panic!("not refused");
        };
        assert_eq!(refusal.retry_after.as_deref(), Some("7"));
        assert_eq!(refusal.code, 131_026);
    }
}
