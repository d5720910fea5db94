//! What an invariant is, and what it can say.

use serde::Serialize;

use crate::history::History;

/// A promise, and how a history is judged by it.
#[derive(Debug, Clone, Copy)]
pub struct Invariant {
    /// Its name in verdicts and scenario files, such as `faithful-replay`.
    pub name: &'static str,
    /// Whether a breach is something bad that happened, or something good that never did.
    pub kind: Kind,
    /// What is promised, in one sentence.
    pub promise: &'static str,
    /// The rules that it guards, such as `S10`.
    pub rules: &'static [&'static str],
    /// Judges a history. Never panics, whatever the history holds.
    pub judge: fn(&History) -> Ruling,
}

/// The two kinds of promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nothing bad happens; judged at every moment.
    Safety,
    /// Something good happens in the end; judged after all faults are healed and a bound has passed.
    Liveness,
}

/// What an invariant says of a history. Evidence is indexes of entries, in order: the shortest set that shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "ruling", rename_all = "kebab-case")]
pub enum Ruling {
    /// The promise was put to the test and held.
    Kept,
    /// The promise was broken.
    Violated {
        /// What happened, in words.
        why: String,
        /// The entries that show it.
        evidence: Vec<usize>,
    },
    /// The promise was broken where it does not bind.
    Waived {
        /// The waiver that held, such as `past-horizon`.
        waiver: &'static str,
        /// What happened, in words.
        why: String,
        /// The entries that show it.
        evidence: Vec<usize>,
    },
    /// Nothing that the promise speaks of was observed.
    Inconclusive,
}

impl Ruling {
    /// What happened, in words; empty where there is nothing to tell.
    #[must_use]
    pub fn why(&self) -> &str {
        match self {
            Self::Violated { why, .. } | Self::Waived { why, .. } => why,
            Self::Kept | Self::Inconclusive => "",
        }
    }

    /// The entries that show it, in order.
    #[must_use]
    pub fn evidence(&self) -> &[usize] {
        match self {
            Self::Violated { evidence, .. } | Self::Waived { evidence, .. } => evidence,
            Self::Kept | Self::Inconclusive => &[],
        }
    }

    /// Whether the promise was broken where it binds.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        matches!(self, Self::Violated { .. })
    }
}
