//! The workloads: what happens when nothing is hurt.

use std::{fmt, sync::OnceLock};

use crate::plan::Scenario;

/// A small piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workload {
    /// One send with retries.
    Send,
    /// Concurrent sends with one key.
    Concurrent,
    /// One webhook with redelivery.
    Webhook,
    /// A batch of events.
    Batch,
    /// A dead letter that is redriven twice.
    Redrive,
}

impl Workload {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Send, Self::Concurrent, Self::Webhook, Self::Batch, Self::Redrive];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Concurrent => "concurrent",
            Self::Webhook => "webhook",
            Self::Batch => "batch",
            Self::Redrive => "redrive",
        }
    }

    /// Its story, which names the profiles that can play it.
    ///
    /// # Panics
    /// Never: each is read in a test.
    #[must_use]
    pub fn scenario(self) -> &'static Scenario {
        static READ: [OnceLock<Scenario>; 5] = [const { OnceLock::new() }; 5];
        let text = match self {
            Self::Send => include_str!("workloads/send.toml"),
            Self::Concurrent => include_str!("workloads/concurrent.toml"),
            Self::Webhook => include_str!("workloads/webhook.toml"),
            Self::Batch => include_str!("workloads/batch.toml"),
            Self::Redrive => include_str!("workloads/redrive.toml"),
        };
        READ[self as usize]
            .get_or_init(|| Scenario::parse(self.name(), text).expect("a workload is a scenario"))
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_is_a_scenario() {
        for workload in Workload::ALL {
            assert!(!workload.scenario().steps.is_empty(), "{workload}");
        }
    }
}
