//! The workloads: what happens when nothing is hurt.

use std::{fmt, sync::OnceLock};

use crate::plan::{EXPRESS_PG, EXPRESS_PG_PROSE, Scenario, SignatureScheme};

/// They look for the id of an event at the top, where Meta has none.
const SIGNED_OTHERWISE: [&str; 2] = [EXPRESS_PG, EXPRESS_PG_PROSE];

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

    /// The workload of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|workload| workload.name() == name)
    }

    /// The profiles that can play it.
    pub fn profiles(self) -> impl Iterator<Item = &'static str> {
        let signed_otherwise = (self == Self::Webhook).then_some(SIGNED_OTHERWISE);
        let named = self.scenario().world.profiles.iter().map(String::as_str);
        named.chain(signed_otherwise.into_iter().flatten())
    }

    /// Its story as this profile can read it.
    #[must_use]
    pub fn scenario_for(self, profile: &str) -> Scenario {
        let mut scenario = self.scenario().clone();
        if SIGNED_OTHERWISE.contains(&profile) {
            for deliver in scenario.steps.iter_mut().filter_map(|step| step.deliver.as_mut()) {
                deliver.scheme = SignatureScheme::XSignature;
            }
        }
        scenario
    }

    /// Its story.
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
