//! How far a clock is off.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Span, SpanError};

/// How far a clock is off, ahead or behind, such as `+5m` or `-90s`; stored in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    ms: i64,
}

impl Offset {
    /// An offset of so many milliseconds; less than nothing is behind.
    #[must_use]
    pub const fn from_ms(ms: i64) -> Self {
        Self { ms }
    }

    /// In milliseconds.
    #[must_use]
    pub const fn ms(self) -> i64 {
        self.ms
    }
}

impl FromStr for Offset {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let text = text.trim();
        let (sign, length) = match text.strip_prefix('-') {
            Some(length) => (-1, length),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let span: Span = length.parse()?;
        // A span is far shorter than what an i64 holds.
        Ok(Self { ms: sign * span.ms() as i64 })
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.ms < 0 { '-' } else { '+' };
        write!(f, "{sign}{}", Span::from_ms(self.ms.unsigned_abs()))
    }
}

impl Serialize for Offset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Offset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Offset;

    #[test]
    fn ahead_and_behind_are_written_back_as_they_were() {
        for text in ["+5m", "-90s", "+0s"] {
            assert_eq!(text.parse::<Offset>().unwrap().to_string(), text);
        }
        assert_eq!("5m".parse::<Offset>().unwrap().ms(), 300_000);
        assert!("-5".parse::<Offset>().is_err());
    }
}
