//! What nobody tries any more, and which of it is meant.

use serde::{Deserialize, Serialize};

use super::Queue;

/// What nobody tries any more (W8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Its id.
    pub id: i64,
    /// Whose row it is.
    pub queue: Queue,
    /// The stable id of the event or the effect.
    pub about: String,
    /// Whose webhook it came in by.
    pub provider: String,
    /// The instance that it is for.
    pub endpoint: String,
    /// Who was to act on it.
    pub subscriber: String,
    /// The row's content.
    pub payload: String,
    /// Why it was given up.
    pub error: String,
    /// When it died first.
    pub died_ms: i64,
    /// Attempts that were made.
    pub attempts: u32,
}

/// Which dead letters are meant: those of which everything is true that is said here.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeadFilter {
    /// As in [`DeadLetter::provider`].
    pub provider: Option<String>,
    /// As in [`DeadLetter::endpoint`].
    pub endpoint: Option<String>,
    /// As in [`DeadLetter::subscriber`].
    pub subscriber: Option<String>,
    /// A part of [`DeadLetter::error`], letter for letter.
    pub error_contains: Option<String>,
    /// It died first at this time or later.
    pub died_from_ms: Option<i64>,
    /// It died first before this time.
    pub died_before_ms: Option<i64>,
}
