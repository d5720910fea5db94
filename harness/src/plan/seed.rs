//! A seed in TOML, whose integers end at 2^63 - 1: a larger one is written as a text.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A seed as it stands in a file.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a seed is a number from 0, written as a text from 2^63 on"
)]
enum Written {
    Number(u64),
    Text(String),
}

/// Writes a seed.
pub(super) fn serialize<S: Serializer>(
    seed: &Option<u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    seed.map(|seed| match i64::try_from(seed) {
        Ok(_) => Written::Number(seed),
        Err(_) => Written::Text(seed.to_string()),
    })
    .serialize(serializer)
}

/// Reads a seed.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    match Written::deserialize(deserializer)? {
        Written::Number(seed) => Ok(Some(seed)),
        Written::Text(text) => match text.parse() {
            Ok(seed) => Ok(Some(seed)),
            Err(_) => Err(de::Error::custom(format!("`{text}` is no seed"))),
        },
    }
}
