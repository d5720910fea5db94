//! What became of a cell, in one letter.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::verdict::{Summary, Verdict};

/// What became of a cell, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Something acted twice.
    Duplicate,
    /// Something that was acknowledged came to nothing.
    Lost,
    /// Something is stuck, or never ends.
    Wedged,
    /// Another promise is broken.
    Broken,
    /// Every promise is kept, and a message is visibly unknown.
    Unknown,
    /// A promise is broken where it does not bind.
    Waived,
    /// Every promise is kept.
    Kept,
    /// Nothing was put to the test: the fault never struck, or nobody came back and nothing was owed.
    Untested,
}

impl Fate {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Duplicate,
        Self::Lost,
        Self::Wedged,
        Self::Broken,
        Self::Unknown,
        Self::Waived,
        Self::Kept,
        Self::Untested,
    ];

    /// The fate that a verdict tells of.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Self {
        match verdict.summary() {
            Summary::Violated { invariants } => {
                let any = |names: &[&str]| invariants.iter().any(|name| names.contains(name));
                if any(&["once"]) {
                    Self::Duplicate
                } else if any(&["no-loss", "honest-answer", "no-collapse"]) {
                    Self::Lost
                } else if any(&["no-wedge", "completes", "bounded"]) {
                    Self::Wedged
                } else {
                    Self::Broken
                }
            }
            Summary::Inconclusive { .. } => Self::Untested,
            Summary::Waived { .. } => Self::Waived,
            Summary::Kept { unknown: 0 } => Self::Kept,
            Summary::Kept { .. } => Self::Unknown,
        }
    }

    /// Whether a promise is broken.
    #[must_use]
    pub fn is_bad(self) -> bool {
        self <= Self::Broken
    }

    /// Its letter in a grid.
    #[must_use]
    pub fn glyph(self) -> char {
        match self {
            Self::Duplicate => 'D',
            Self::Lost => 'L',
            Self::Wedged => 'W',
            Self::Broken => 'B',
            Self::Unknown => '?',
            Self::Waived => 'w',
            Self::Kept => '·',
            Self::Untested => '-',
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Lost => "lost",
            Self::Wedged => "wedged",
            Self::Broken => "broken",
            Self::Unknown => "unknown",
            Self::Waived => "waived",
            Self::Kept => "kept",
            Self::Untested => "untested",
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
