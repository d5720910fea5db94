//! HMAC-SHA256 over raw bytes (W2), apart from the sender's own code and the gateway's.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::sim::actors::whatsapp::META_SECRET;

/// Whether these hexadecimal digits are the HMAC of the body under the shared secret. Compared in constant time.
pub fn is_hmac_of(hex: &str, body: &[u8]) -> bool {
    let Some(signature) = bytes(hex) else {
        return false;
    };
    let mut mac =
        Hmac::<Sha256>::new_from_slice(META_SECRET.as_bytes()).expect("a secret of any length will do");
    mac.update(body);
    mac.verify_slice(&signature).is_ok()
}

/// What is written in hexadecimal digits.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    hex.len().is_multiple_of(2).then(|| hex.as_bytes().chunks(2).map(pair).collect())?
}
