//! The idempotency key of a send that an event asks for (S12). It is made of the domain alone, so that every attempt, every
//! worker and every redrive has the same.

use sha2::{Digest, Sha256};

use crate::hex;

/// The encoding's version, which is a part of what is hashed and of the key.
const VERSION: &str = "ev1";

/// SHA-256 over the version and these parts, each with its length before it: no two lists of parts are the same bytes,
/// whatever separators are in them.
pub(super) fn domain_key(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in [VERSION].iter().chain(parts) {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    format!("{VERSION}-{}", hex::encode(&digest.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_and_splits_do_not_collide() {
        let keys = [
            domain_key(&["loja-1", "5511", "meta:a:b"]),
            domain_key(&["loja-1", "5511:meta", "a:b"]),
            domain_key(&["loja-1", "5511|meta", "a|b"]),
            domain_key(&["loja-15511", "", "meta:a:b"]),
            domain_key(&["loja-1", "5511", "meta:a", "b"]),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{key}");
            assert_eq!(key.len(), 68);
        }
        assert_eq!(keys[0], domain_key(&["loja-1", "5511", "meta:a:b"]));
    }
}
