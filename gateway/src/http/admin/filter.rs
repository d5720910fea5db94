//! Which dead letters an operator means.

use std::time::UNIX_EPOCH;

use http::StatusCode;
use serde::Deserialize;

use super::LISTED;
use crate::{http::Problem, store::DeadFilter};

/// What an operator may say of dead letters; what is left out is not asked for. A name that is none is refused: a filter that
/// was misspelled would mean all of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Filter {
    provider: Option<String>,
    endpoint: Option<String>,
    subscriber: Option<String>,
    error_contains: Option<String>,
    /// RFC 3339: then, or later.
    died_after: Option<String>,
    /// RFC 3339.
    died_before: Option<String>,
    limit: Option<u32>,
}

impl Filter {
    /// What the store is asked for, and how many at the most.
    pub(super) fn read(self) -> Result<(DeadFilter, u32), Problem> {
        let limit = self.limit.unwrap_or(LISTED);
        if !(1..=LISTED).contains(&limit) {
            return Err(bad_filter(format!("`limit` is 1 to {LISTED}")));
        }
        let filter = DeadFilter {
            provider: self.provider,
            endpoint: self.endpoint,
            subscriber: self.subscriber,
            error_contains: self.error_contains,
            died_from_ms: self.died_after.map(|date| at_ms("diedAfter", &date)).transpose()?,
            died_before_ms: self.died_before.map(|date| at_ms("diedBefore", &date)).transpose()?,
        };
        Ok((filter, limit))
    }
}

fn at_ms(field: &str, date: &str) -> Result<i64, Problem> {
    let since = humantime::parse_rfc3339(date).ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let at_ms = since.and_then(|since| i64::try_from(since.as_millis()).ok());
    at_ms.ok_or_else(|| bad_filter(format!("`{field}` is a date such as 2026-01-31T12:00:00Z")))
}

/// 400.
pub(super) fn bad_filter(why: impl ToString) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad-filter", why)
}
