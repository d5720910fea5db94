//! The ways in which whoever got no answer comes back.

use std::fmt;

use crate::plan::{Scenario, Span};

/// When a producer sends again, and a sender delivers again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retry {
    /// Never.
    Never,
    /// A second after its timeout.
    Immediate,
    /// When every lease of the first attempt is over.
    AfterLease,
    /// When a stored answer would be forgotten.
    AfterTtl,
}

impl Retry {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Never, Self::Immediate, Self::AfterLease, Self::AfterTtl];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Immediate => "immediate",
            Self::AfterLease => "after-lease",
            Self::AfterTtl => "after-ttl",
        }
    }

    /// Has everybody in a scenario come back so.
    pub fn apply(self, scenario: &mut Scenario) {
        let pauses: Vec<Span> = match self {
            Self::Never => Vec::new(),
            Self::Immediate => vec![Span::from_ms(1_000)],
            Self::AfterLease => vec![Span::from_ms(60_000)],
            Self::AfterTtl => vec![Span::from_ms(25 * 3_600_000)],
        };
        scenario.world.producer.retry.clone_from(&pauses);
        for step in &mut scenario.steps {
            if let Some(deliver) = &mut step.deliver {
                deliver.retry.clone_from(&pauses);
            }
        }
    }
}

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
