//! The `Idempotency-Key` header (S3).

use http::{HeaderMap, HeaderName};

/// The header's name.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The longest key, in characters.
pub const MAX_CHARACTERS: usize = 255;

/// Why a key is refused (400).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Two headers: which is meant cannot be told.
    #[error("more than one Idempotency-Key header")]
    Twice,
    /// Bytes that are not visible ASCII.
    #[error("the Idempotency-Key is not text")]
    NotText,
    /// No characters.
    #[error("the Idempotency-Key is empty")]
    Empty,
    /// More than [`MAX_CHARACTERS`].
    #[error("the Idempotency-Key has over 255 characters")]
    TooLong,
    /// Neither a quoted string nor a bare token.
    #[error("the Idempotency-Key is neither a quoted string nor a bare token")]
    Malformed,
    /// A bare token where the policy demands the quoted form.
    #[error("the Idempotency-Key is not a quoted string")]
    NotQuoted,
}

/// The key of a request, unquoted; `None` where there is no header, which leaves the send unprotected.
///
/// An RFC 8941 quoted string and a bare token are the same key. A bare token has no space, comma or quote in
/// it: a proxy joins two headers with a comma, and two keys must not become a third. With `is_quoted_only` the bare
/// form is refused.
///
/// # Errors
/// [`KeyError`], each of them a 400 (S3).
pub fn from_headers(headers: &HeaderMap, is_quoted_only: bool) -> Result<Option<String>, KeyError> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(KeyError::Twice);
    }
    let text = value.to_str().map_err(|_| KeyError::NotText)?.trim();
    let key = match text.strip_prefix('"') {
        Some(rest) => unquote(rest)?,
        None if text.contains([' ', '\t', ',', '"']) => return Err(KeyError::Malformed),
        None if is_quoted_only && !text.is_empty() => return Err(KeyError::NotQuoted),
        None => text.to_owned(),
    };
    match key.chars().count() {
        0 => Err(KeyError::Empty),
        1..=MAX_CHARACTERS => Ok(Some(key)),
        _ => Err(KeyError::TooLong),
    }
}

/// The content of a quoted string whose opening quote is gone already.
fn unquote(rest: &str) -> Result<String, KeyError> {
    let mut key = String::new();
    let mut characters = rest.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' if characters.as_str().is_empty() => return Ok(key),
            '"' => return Err(KeyError::Malformed),
            '\\' => match characters.next() {
                Some(escaped @ ('"' | '\\')) => key.push(escaped),
                _ => return Err(KeyError::Malformed),
            },
            '\t' => return Err(KeyError::NotText),
            plain => key.push(plain),
        }
    }
    Err(KeyError::Malformed)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(values: &[&[u8]]) -> Result<Option<String>, KeyError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(value).unwrap());
        }
        from_headers(&headers, false)
    }

    #[test]
    fn quoted_and_bare_are_the_same_key() {
        assert_eq!(read(&[b"cart-7:1|a"]), Ok(Some("cart-7:1|a".into())));
        assert_eq!(read(&[b"\"cart-7:1|a\""]), Ok(Some("cart-7:1|a".into())));
        assert_eq!(read(&[b"\"a \\\"b\\\\c, d\""]), Ok(Some("a \"b\\c, d".into())));
        assert_eq!(read(&[]), Ok(None));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for (values, expected) in [
            (&[&b"a"[..], b"a"][..], KeyError::Twice),
            (&[b"\xc3\xa9"], KeyError::NotText),
            (&[b"\"a\tb\""], KeyError::NotText),
            (&[b""], KeyError::Empty),
            (&[b"  "], KeyError::Empty),
            (&[b"\"\""], KeyError::Empty),
            (&[b"\"a"], KeyError::Malformed),
            (&[b"\"a\"b"], KeyError::Malformed),
            (&[b"\"a\\b\""], KeyError::Malformed),
            (&[b"a, b"], KeyError::Malformed),
            (&[b"a\"b"], KeyError::Malformed),
        ] {
            assert_eq!(read(values), Err(expected), "{values:?}");
        }
    }

    #[test]
    fn a_policy_may_demand_quotes() {
        let mut headers = HeaderMap::new();
        headers.insert(IDEMPOTENCY_KEY, HeaderValue::from_static("k"));
        assert_eq!(from_headers(&headers, true), Err(KeyError::NotQuoted));
        headers.insert(IDEMPOTENCY_KEY, HeaderValue::from_static("\"k\""));
        assert_eq!(from_headers(&headers, true), Ok(Some("k".into())));
    }

    #[test]
    fn length_is_counted_without_the_quotes() {
        let longest = "k".repeat(255);
        assert_eq!(read(&[longest.as_bytes()]), Ok(Some(longest.clone())));
        assert_eq!(read(&[format!("\"{longest}\"").as_bytes()]), Ok(Some(longest.clone())));
        assert_eq!(read(&[format!("{longest}k").as_bytes()]), Err(KeyError::TooLong));
    }
}
