//! What a producer makes of a response.

use bytes::Bytes;
use http::Response;
use onceproof_gateway::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::history::Event;

/// A response, read.
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Whether it bears `X-Idempotent-Replay: true`.
    pub replay: bool,
    /// The message id in its body.
    pub message_id: Option<String>,
    /// Our reference in its body.
    pub reference: Option<String>,
    /// The status of a message in its body.
    pub says: Option<String>,
    /// The problem type in its body, without its prefix.
    pub problem: Option<String>,
    digest: String,
}

impl Answer {
    /// Reads a response.
    pub fn of(response: &Response<Bytes>) -> Self {
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        let text = |field: &str| body[field].as_str().map(str::to_owned);
        Self {
            status: response.status().as_u16(),
            replay: header("x-idempotent-replay") == Some("true"),
            message_id: text("messageId").or_else(|| text("instanceId")),
            reference: text("reference"),
            says: says(&body),
            problem: text("type").and_then(|name| name.rsplit(':').next().map(str::to_owned)),
            digest: digest(response),
        }
    }

    /// Whether a producer stops here: the last word on this content.
    pub fn is_definite(&self) -> bool {
        match self.status {
            408 | 409 | 425 | 429 => false,
            status => (200..300).contains(&status) || (400..500).contains(&status),
        }
    }

    /// As the history tells it.
    pub fn event(&self, op: &str, call: u32) -> Event {
        Event::Response {
            op: op.into(),
            call,
            status: self.status,
            replay: self.replay,
            message_id: self.message_id.clone(),
            problem: self.problem.clone(),
            digest: self.digest.clone(),
        }
    }
}

/// How far a message has come: what a status said of it, where it is known to be sent (W11).
fn says(body: &Value) -> Option<String> {
    let (status, delivery) = (body["status"].as_str()?, body["delivery"].as_str());
    Some(delivery.filter(|_| status == "sent").unwrap_or(status).to_owned())
}

/// Equal for equal answers: status, allow-listed headers, body (S2).
fn digest(response: &Response<Bytes>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(response.status().as_u16().to_le_bytes());
    for name in ["content-type", "location"] {
        let value = response.headers().get(name).map(|value| value.as_bytes());
        hasher.update(value.unwrap_or_default());
        hasher.update([0]);
    }
    hasher.update(response.body());
    hex::encode(&hasher.finalize()[..8])
}
