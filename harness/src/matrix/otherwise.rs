//! What is decided otherwise than a profile has it.

use crate::{plan::Plan, run::Options, subject::Structures};

/// Decisions that are put over those of a profile; by default none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Otherwise {
    /// Policy fields.
    pub policy: toml::Table,
    /// Decisions of the systems that have no policy.
    pub structures: Structures,
}

impl Otherwise {
    /// The plan with the policy fields in it.
    #[must_use]
    pub fn over(&self, mut plan: Plan) -> Plan {
        plan.scenario.world.policy.extend(self.policy.clone());
        plan
    }

    /// The rest of it, which no plan can have.
    #[must_use]
    pub fn options(&self) -> Options {
        Options { structures: self.structures, ..Options::default() }
    }
}
