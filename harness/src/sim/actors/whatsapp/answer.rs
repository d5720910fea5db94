//! What the provider says.

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use serde_json::{Value, json};

use crate::plan::AnswerBody;

/// An answer in the making.
pub struct Answer {
    /// HTTP status.
    pub status: StatusCode,
    /// The id of the message, if there is one.
    pub message_id: Option<String>,
    /// What is said instead of what belongs to the status.
    pub body: Option<AnswerBody>,
    /// `Retry-After` in seconds.
    pub retry_after: Option<u32>,
}

impl Answer {
    /// As HTTP.
    pub fn response(&self) -> Response {
        let (media_type, text) = self.text();
        let mut response = match self.body {
            Some(AnswerBody::Half) => half(&text),
            _ => Response::new(Body::from(text)),
        };
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    fn text(&self) -> (&'static str, String) {
        let error = || json(&json!({ "error": { "code": self.status.as_u16(), "message": "refused" } }));
        match (self.body, &self.message_id) {
            (Some(AnswerBody::Error), _) => error(),
            (Some(AnswerBody::Page), _) => ("text/html", "<html>busy</html>".into()),
            (Some(AnswerBody::Garbage), _) => ("application/json", "{\"messages\":[{\"id\":\"wam".into()),
            (_, Some(id)) if self.status.is_success() => {
                json(&json!({ "messaging_product": "whatsapp", "messages": [{ "id": id }] }))
            }
            _ if self.status.is_server_error() => ("text/plain", "internal error".into()),
            _ => error(),
        }
    }
}

fn json(body: &Value) -> (&'static str, String) {
    ("application/json", body.to_string())
}

/// Announces the whole text, and breaks the connection after half of it.
fn half(text: &str) -> Response {
    let first = Bytes::copy_from_slice(&text.as_bytes()[..text.len() / 2]);
    let parts: [Result<Bytes, std::io::Error>; 2] = [Ok(first), Err(std::io::Error::other("cut"))];
    let mut response = Response::new(Body::from_stream(futures::stream::iter(parts)));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
    response
}
