//! A length of time as people write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The units, longest first, in milliseconds.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// What every mistake in a span is answered with.
const UNITS_HELP: &str =
    "write a number and its unit (ms, s, m, h or d), such as `250ms`, `10s`, `24h` or `24h - 1s`";

/// A length of time with its unit, such as `10s`, `24h - 1s`, `30d`; stored in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    ms: u64,
}

/// Why a text is no [`Span`]: what is wrong, then, on a line of its own, what was meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{wrong}\n{UNITS_HELP}")]
pub struct SpanError {
    wrong: String,
}

impl Span {
    /// The longest span that a scenario may name: 400 days.
    pub const MAX: Self = Self::from_ms(400 * 86_400_000);

    /// A span of so many milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self { ms }
    }

    /// In milliseconds.
    #[must_use]
    pub const fn ms(self) -> u64 {
        self.ms
    }
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let wrong = |wrong: String| SpanError { wrong };
        let mut total: i64 = 0;
        let mut rest = text.trim();
        let mut sign = 1;
        loop {
            let end = rest.find(['+', '-']).unwrap_or(rest.len());
            let term = term_ms(rest[..end].trim()).map_err(wrong)?;
            total = total.checked_add(sign * term).ok_or_else(|| wrong(format!("`{text}` is too long")))?;
            let Some(operator) = rest[end..].chars().next() else {
                break;
            };
            sign = if operator == '-' { -1 } else { 1 };
            rest = &rest[end + 1..];
        }
        let ms = u64::try_from(total).map_err(|_| wrong(format!("`{text}` is less than nothing")))?;
        if ms > Self::MAX.ms {
            return Err(wrong(format!("`{text}` is longer than {}", Self::MAX)));
        }
        Ok(Self { ms })
    }
}

/// One number with its unit.
fn term_ms(term: &str) -> Result<i64, String> {
    let digits = term.find(|c: char| !c.is_ascii_digit()).unwrap_or(term.len());
    let (number, unit) = (&term[..digits], term[digits..].trim());
    if number.is_empty() {
        return Err(match term {
            "" => "a number is missing".into(),
            _ => format!("`{term}` is no length of time"),
        });
    }
    if unit.is_empty() {
        return Err(format!("`{term}` has no unit"));
    }
    let (_, unit_ms) =
        UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(|| format!("`{unit}` is no unit of time"))?;
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*unit_ms))
        .and_then(|ms| i64::try_from(ms).ok())
        .ok_or_else(|| format!("`{term}` is too long"))
}

impl fmt::Display for Span {
    /// As a person would write it: `24h`, not `1d`; `24h - 1s`, not `86399s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ms == 0 {
            return f.write_str("0s");
        }
        let (mut ms, mut sign) = (self.ms, "");
        while ms > 0 {
            let (unit, unit_ms) = whole(ms).unwrap_or_else(|| largest(ms));
            let (below, over) = (ms / unit_ms, ms % unit_ms);
            // `24h - 1s` reads better than `23h + 3599s`.
            let up = over > unit_ms / 2;
            let number = if up { below + 1 } else { below };
            write!(f, "{sign}{number}{unit}")?;
            sign = if up == (sign == " - ") { " + " } else { " - " };
            ms = if up { unit_ms - over } else { over };
        }
        Ok(())
    }
}

/// The largest unit of which `ms` is a handy multiple.
fn whole(ms: u64) -> Option<(&'static str, u64)> {
    UNITS.into_iter().find(|&(unit, unit_ms)| {
        let number = ms / unit_ms;
        // One day is written `24h`: it is an age, not a date.
        let least = if unit == "d" { 2 } else { 1 };
        ms.is_multiple_of(unit_ms) && number >= least && (number < 1_000 || unit == "d")
    })
}

/// The largest unit that `ms` reaches, or nearly reaches.
fn largest(ms: u64) -> (&'static str, u64) {
    UNITS
        .into_iter()
        .find(|&(unit, unit_ms)| ms >= if unit == "d" { 2 * unit_ms } else { unit_ms })
        .unwrap_or(("ms", 1))
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpanVisitor)
    }
}

/// Takes a number too, so as to say that it has no unit.
struct SpanVisitor;

impl de::Visitor<'_> for SpanVisitor {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a length of time such as \"10s\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Span, E> {
        Err(E::custom(SpanError { wrong: format!("`{number}` has no unit") }))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Span, E> {
        Err(E::custom(SpanError { wrong: format!("`{number}` has no unit") }))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Span, E> {
        Err(E::custom(SpanError { wrong: format!("`{number}` has no unit") }))
    }
}
