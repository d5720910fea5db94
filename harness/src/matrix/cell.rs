//! One cell of the matrix.

use std::fmt;

use super::{Hurt, Place, Retry, Workload};
use crate::{
    history::Ability,
    plan::{Expectations, Fault, Plan},
};

/// One workload, played by one profile in front of one provider, hurt at one place in one way, with one way to come back.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// What is done.
    pub workload: Workload,
    /// Who plays.
    pub profile: String,
    /// What the provider can do.
    pub ability: Ability,
    /// Where it is hurt.
    pub place: Place,
    /// How it is hurt.
    pub hurt: Hurt,
    /// Who comes back, and when.
    pub retry: Retry,
    /// The fault.
    pub fault: Fault,
}

impl Cell {
    /// Its plan, which expects what `strict` promises.
    #[must_use]
    pub fn plan(&self, seed: u64) -> Plan {
        let mut plan = bare(self.workload, &self.profile, self.ability, seed);
        self.retry.apply(&mut plan.scenario);
        plan.scenario.faults = vec![self.fault.clone()];
        plan.variant = format!("{} at {}, retry {}", self.hurt, self.place, self.retry);
        plan
    }
}

/// A workload that nothing hurts.
pub(super) fn bare(workload: Workload, profile: &str, ability: Ability, seed: u64) -> Plan {
    let mut scenario = workload.scenario_for(profile);
    scenario.expect = Expectations::default();
    scenario.world.profiles = vec![profile.into()];
    scenario.world.abilities = vec![ability];
    scenario.world.seed = Some(seed);
    Plan { name: workload.name().into(), variant: String::new(), scenario }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, profile, ability, place, hurt, retry, .. } = self;
        write!(f, "{workload}/{profile}/{}/{hurt}/{place}/{retry}", ability.name())
    }
}
