//! What a key's content is: RFC 8785 (JCS) over the parsed JSON, so that field order and `1` against `1.0` do
//! not matter, while an absent field is not null (S3).

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

use crate::hex;

/// Why a body has no fingerprint (400); the message ends with line and column.
#[derive(Debug, thiserror::Error)]
#[error("not acceptable JSON: {0}")]
pub struct ContentError(#[from] serde_json::Error);

/// Parses JSON in which no object has the same name twice.
///
/// # Errors
/// [`ContentError`] for what is not JSON, and for duplicate names, with line and column.
pub fn parse(body: &[u8]) -> Result<Value, ContentError> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = Strict.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// The fingerprint of parsed JSON: `jcs1:` and the SHA-256 of its canonical form. The prefix is the scheme's
/// version, which is stored with it.
///
/// # Errors
/// [`ContentError`] for what has no canonical form.
pub fn of_value(value: &Value) -> Result<String, ContentError> {
    let canonical = serde_json_canonicalizer::to_vec(value)?;
    Ok(format!("jcs1:{}", hex::encode(&Sha256::digest(canonical))))
}

/// The fingerprint of a form's parts, given as JSON (S8): `mp1:` and the SHA-256 of its canonical form.
///
/// # Errors
/// [`ContentError`] for what has no canonical form.
pub fn of_parts(parts: &Value) -> Result<String, ContentError> {
    let canonical = serde_json_canonicalizer::to_vec(parts)?;
    Ok(format!("mp1:{}", hex::encode(&Sha256::digest(canonical))))
}

/// The fingerprint of a JSON text: [`parse`], then [`of_value`].
///
/// # Errors
/// [`ContentError`] as these two.
pub fn canonical_digest(body: &[u8]) -> Result<String, ContentError> {
    of_value(&parse(body)?)
}

/// Reads any JSON value, and refuses duplicate names, of which serde_json itself keeps the last in silence.
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Strict)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Name(name)) = members.next_key()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format!("duplicate name {name:?}")));
            }
            let value = members.next_value_seed(Strict)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

/// A member's name.
#[derive(Deserialize)]
struct Name(String);

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> String {
        canonical_digest(text.as_bytes()).unwrap()
    }

    #[test]
    fn order_spacing_and_spelling_of_numbers_do_not_matter() {
        assert_eq!(digest(r#"{"a":1,"b":[2]}"#), digest(r#" {"b":[2.0],"a":1.0} "#));
        assert_eq!(digest(r#"{"a":1e2}"#), digest(r#"{"a":100}"#));
        assert_eq!(digest(r#"{"a":"\u00e9"}"#), digest(r#"{"a":"é"}"#));
    }

    #[test]
    fn content_matters() {
        assert_ne!(digest(r#"{"a":null}"#), digest("{}"));
        assert_ne!(digest(r#"{"a":[1,2]}"#), digest(r#"{"a":[2,1]}"#));
        assert_ne!(digest(r#"{"a":1}"#), digest(r#"{"a":"1"}"#));
    }

    #[test]
    fn the_scheme_is_part_of_it() {
        // SHA-256 of `{}`.
        assert_eq!(digest("{}"), "jcs1:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    }

    #[test]
    fn duplicate_names_are_refused_with_their_place() {
        let error = canonical_digest(b"{\"a\":1,\n \"b\":{\"c\":1,\"c\":2}}").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("duplicate name \"c\""), "{text}");
        assert!(text.contains("line 2 column"), "{text}");
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        for text in ["", "{", "{}x", "[1,]", "\"\u{1}\"", "1e999", "\"\\ud800\""] {
            let error = canonical_digest(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("line 1 column"), "{text:?}: {error}");
        }
        assert!(canonical_digest(b"\"\xff\"").is_err());
        assert!(canonical_digest("[".repeat(100_000).as_bytes()).is_err());
    }
}
