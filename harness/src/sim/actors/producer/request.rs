//! The HTTP request of a send: path, token, key, content.

use bytes::Bytes;
use http::{HeaderValue, Request, header};
use onceproof_gateway::{fingerprint, hex};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::tenants::{ACCOUNT_TOKEN, tenant};
use crate::{
    plan::{Scenario, Send, TokenKind},
    sim::marker::marked,
};

/// Where multipart parts begin and end. A repetition draws another, since it says nothing of the content.
const BOUNDARY: &str = "parts-of-a-message";

/// What a send consists of.
pub struct Content {
    /// The body's media type.
    pub media_type: String,
    /// The body.
    pub body: Vec<u8>,
    /// Digest of what it means: equal for equal content, whatever the bytes.
    pub digest: String,
}

/// The content of an operation, as its first step says.
pub fn content(scenario: &Scenario, send: &Send) -> Content {
    let first = scenario.first_send(&send.op).unwrap_or(send);
    // A repetition may spell the same content otherwise.
    let spelled = send.body.as_ref().or(first.body.as_ref());
    if let Some(file) = send.file.as_ref().or(first.file.as_ref()) {
        return multipart(first, file);
    }
    let body = spelled.cloned().unwrap_or_else(|| json_body(first).to_string());
    // What is not JSON is never the content of anything but itself.
    let digest = fingerprint::canonical_digest(body.as_bytes()).unwrap_or_else(|_| hash(body.as_bytes()));
    Content { media_type: "application/json".into(), body: body.into_bytes(), digest }
}

/// The body of a send on its route.
pub fn json_body(send: &Send) -> Value {
    let to = send.to.as_deref().unwrap_or_default();
    let text = marked(send.text.as_deref().unwrap_or_default(), &send.op);
    match send.route.as_str() {
        "messages" => json!({ "to": to, "type": "text", "text": { "body": text } }),
        "messages/media" => json!({ "to": to, "url": "https://cdn.example/foto.jpg", "caption": text }),
        "messages/audio" => json!({ "to": to, "url": format!("https://cdn.example/{text}.ogg") }),
        "messages/document" => {
            json!({ "to": to, "url": "https://cdn.example/nota.pdf", "filename": "nota.pdf", "caption": text })
        }
        "messages/contact" => json!({ "to": to, "contact": { "name": text, "phone": to } }),
        "messages/location" => json!({ "to": to, "latitude": -23.55, "longitude": -46.63, "name": text }),
        "instances" => json!({ "name": text }),
        _ => json!({ "to": to, "text": text }),
    }
}

fn multipart(send: &Send, file: &str) -> Content {
    let to = send.to.as_deref().unwrap_or_default();
    let caption = marked(send.text.as_deref().unwrap_or_default(), &send.op);
    let parts = [
        ("to", "", to),
        ("caption", "", caption.as_str()),
        ("file", "; filename=\"nota.pdf\"\r\nContent-Type: application/pdf", file),
    ];
    let mut body = String::new();
    for (name, more, value) in parts {
        body.push_str(&format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{value}\r\n"
        ));
    }
    body.push_str(&format!("--{BOUNDARY}--\r\n"));
    Content {
        media_type: format!("multipart/form-data; boundary={BOUNDARY}"),
        digest: hash(body.as_bytes()),
        body: body.into_bytes(),
    }
}

fn hash(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes)[..16])
}

/// What a key is unique in: `{instance}/{canonical route}` (S9). Instances are created in the account.
pub fn scope(send: &Send) -> String {
    match send.route.as_str() {
        "instances" => "account/instances".into(),
        route => format!("{}/{route}", send.instance),
    }
}

/// The key that a request bears, unquoted (S3, S12): made once with the job, from the run's seed, unless the plan
/// spells it.
pub fn key(seed: u64, send: &Send) -> Option<String> {
    if send.no_key {
        return None;
    }
    if let Some(key) = &send.key {
        let quoted = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
        return Some(quoted.unwrap_or(key).into());
    }
    let op = send.key_of.as_ref().unwrap_or(&send.op);
    let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(op).finalize();
    Some(hex::encode(&digest[..16]))
}

/// The request itself.
///
/// # Errors
/// When the plan spells a header that HTTP cannot carry.
pub fn request(seed: u64, via: &str, send: &Send, content: Content) -> http::Result<Request<Bytes>> {
    let path = match send.route.as_str() {
        "instances" => format!("/{}/instances", send.prefix),
        route => format!("/{}/instances/{}/{route}", send.prefix, send.instance),
    };
    let mut request =
        Request::post(path).header(header::HOST, via).header(header::CONTENT_TYPE, content.media_type);
    if let Some(token) = token(send) {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let spelled = send.key.clone().or_else(|| key(seed, send));
    for key in [spelled, send.second_key.clone()].into_iter().flatten() {
        request = request.header("idempotency-key", HeaderValue::from_bytes(key.as_bytes())?);
    }
    request.body(Bytes::from(content.body))
}

fn token(send: &Send) -> Option<&'static str> {
    let tenant = tenant(&send.instance);
    match (send.token, send.route.as_str()) {
        (TokenKind::None, _) => None,
        (TokenKind::Wrong, _) => Some("token-of-nobody"),
        (_, "instances") => Some(ACCOUNT_TOKEN),
        (TokenKind::Rotated, _) => Some(tenant.rotated_token),
        (TokenKind::Current, _) => Some(tenant.token),
    }
}
