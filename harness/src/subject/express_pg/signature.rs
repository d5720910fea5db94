//! The middleware that verifies (W2), before anything is parsed.

use axum::http::HeaderMap;

use crate::subject::hmac::is_hmac_of;

/// Whether the body bears the signature of its sender, in either of two headers, with the prefix `sha256=` or without.
pub fn is_authentic(headers: &HeaderMap, body: &[u8]) -> bool {
    let header = ["x-signature", "x-hub-signature-256"].into_iter().find_map(|name| headers.get(name));
    let text = header.and_then(|value| value.to_str().ok());
    text.is_some_and(|text| is_hmac_of(text.strip_prefix("sha256=").unwrap_or(text), body))
}
