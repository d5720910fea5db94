//! The middleware that verifies (W2): HMAC-SHA256 over the raw bytes, in constant time, before anything is parsed.

use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::sim::actors::whatsapp::META_SECRET;

/// Whether the body bears the signature of its sender, in either of two headers, with the prefix `sha256=` or without.
pub fn is_authentic(headers: &HeaderMap, body: &[u8]) -> bool {
    let header = ["x-signature", "x-hub-signature-256"].into_iter().find_map(|name| headers.get(name));
    let text = header.and_then(|value| value.to_str().ok());
    let Some(signature) = text.and_then(|text| bytes(text.strip_prefix("sha256=").unwrap_or(text))) else {
        return false;
    };
    let mut mac =
        Hmac::<Sha256>::new_from_slice(META_SECRET.as_bytes()).expect("a secret of any length will do");
    mac.update(body);
    mac.verify_slice(&signature).is_ok()
}

/// What is written in hexadecimal digits.
pub fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    hex.len().is_multiple_of(2).then(|| hex.as_bytes().chunks(2).map(pair).collect())?
}
