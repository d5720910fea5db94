//! The one encoding of keys that are made of a domain's facts (S12): a producer's, and those of the sends that an event
//! asks for. Every attempt, every worker and every redrive has the same.

use sha2::{Digest, Sha256};

use crate::hex;

/// The key of a scheme and these facts: the scheme's name, a hyphen, and 64 hexadecimal digits.
///
/// They are SHA-256 over the scheme and the parts, each with its length in bytes before it (64 bits, big endian): no two
/// lists of parts are the same bytes, whatever separators are in them. A scheme names what its parts are and in which
/// order, with a version: whoever changes either takes a new name, so that keys of two releases never meet by accident.
#[must_use]
pub fn domain_key(scheme: &str, parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in [scheme].iter().chain(parts) {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    format!("{scheme}-{}", hex::encode(&digest.finalize()))
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::RngSeed};

    use super::*;

    #[test]
    fn separators_and_splits_do_not_collide() {
        let keys = [
            domain_key("ev1", &["loja-1", "5511", "meta:a:b"]),
            domain_key("ev1", &["loja-1", "5511:meta", "a:b"]),
            domain_key("ev1", &["loja-1", "5511|meta", "a|b"]),
            domain_key("ev1", &["loja-15511", "", "meta:a:b"]),
            domain_key("ev1", &["loja-1", "5511", "meta:a", "b"]),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{key}");
            assert_eq!(key.len(), 68);
        }
        assert_eq!(keys[0], domain_key("ev1", &["loja-1", "5511", "meta:a:b"]));
    }

    /// Whoever makes keys in another language can check them against these.
    #[test]
    fn vectors() {
        for (scheme, parts, expected) in [
            ("pr1", &[][..], "pr1-cd28bc04e091f1e2e67abbaa175a8144ecd9a2c7a5ca1647c67577dc1c78ae49"),
            ("pr1", &["", ""], "pr1-f8adb119fdb8e628d3a77281638343576ab7e2f2ab979bb9075b5e63fda336e2"),
            ("pr1", &["a:b|c"], "pr1-f12bc95384bb3063dd8ed87f3cc9eae7aaed76061b6db38d203dce8ef832054a"),
            (
                "ev1",
                &["loja-1", "5511999990001", "ação"],
                "ev1-b842cdf664635698c50e560662733dc39e9fbcd3f9671f1da606075b8a41d23c",
            ),
        ] {
            assert_eq!(domain_key(scheme, parts), expected, "{parts:?}");
        }
    }

    /// Few characters, the separators among them, so that parts that could be taken for others are common.
    fn parts() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[a:|1]{0,3}", 0..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(12),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn other_parts_never_give_the_same_key(one in parts(), other in parts()) {
            let key = |parts: &[String]| domain_key("pr1", &parts.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert_eq!(one == other, key(&one) == key(&other));
        }
    }
}
