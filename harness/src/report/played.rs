//! One cell and what became of it: what every report of a run is made from.

use super::table::Judged;
use crate::{
    exit,
    plan::Plan,
    run::Outcome,
    verdict::{Summary, Verdict},
};

/// One cell and what became of it.
#[derive(Debug)]
pub struct Played {
    /// What was played.
    pub plan: Plan,
    /// What happened.
    pub outcome: Outcome,
    /// How that differs from what the plan expects, a line each.
    pub differences: Vec<String>,
    /// The command that repeats it.
    pub again: String,
}

impl Played {
    /// Compares an outcome with what its plan expects.
    #[must_use]
    pub fn new(plan: Plan, outcome: Outcome, again: String) -> Self {
        let differences = outcome.verdict.differences(&plan.expectation());
        Self { plan, outcome, differences, again }
    }

    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.outcome.verdict
    }

    /// Whether all is as the plan expects.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.differences.is_empty()
    }

    /// Scenario, profile and ability, as its folder is named.
    #[must_use]
    pub fn name(&self) -> String {
        plan_name(&self.plan)
    }

    /// As a cell of the table.
    #[must_use]
    pub fn judged(&self) -> Judged {
        Judged {
            scenario: self.plan.name.clone(),
            profile: self.plan.profile().into(),
            ability: self.plan.ability().name().into(),
            verdict: self.verdict().to_string(),
            expected: self.is_as_expected(),
            good: matches!(self.verdict().summary(), Summary::Kept { .. }),
        }
    }

    /// Whether a person must read what happened: a promise was broken, or nobody expected this.
    #[must_use]
    pub fn needs_a_look(&self) -> bool {
        !self.is_as_expected() || self.verdict().broken().is_some()
    }

    /// Whether another cell, of another ability or variant, would be told in the same words.
    #[must_use]
    pub fn tells_the_same_as(&self, other: &Self) -> bool {
        self.plan.name == other.plan.name
            && self.plan.profile() == other.plan.profile()
            && self.verdict().to_string() == other.verdict().to_string()
            && self.differences == other.differences
    }
}

/// Scenario, profile, ability and variant of a plan, fit to name a folder.
#[must_use]
pub fn plan_name(plan: &Plan) -> String {
    let cell = format!("{}.{}.{}", plan.name, plan.profile(), plan.ability().name());
    match plan.variant.replace(", ", "+").replace(' ', "-").replace('#', "message-") {
        variant if variant.is_empty() => cell,
        variant => format!("{cell}.{variant}"),
    }
}

/// The exit code: unexpected violations first, by their weight; then what showed nothing; then expected failures
/// that did not come.
#[must_use]
pub fn exit_code(played: &[Played]) -> u8 {
    let weighed = |code: u8| unexpected_of(played, code).next().is_some();
    match [exit::SAFETY, exit::LIVENESS, exit::INCONCLUSIVE].into_iter().find(|code| weighed(*code)) {
        _ if played.is_empty() => exit::INCONCLUSIVE,
        Some(code) => code,
        None if played.iter().all(Played::is_as_expected) => exit::AS_EXPECTED,
        None => exit::EXPECTED_FAILURE_MISSING,
    }
}

/// The cells that are why the exit code is what it is.
pub fn unexpected_of(played: &[Played], code: u8) -> impl Iterator<Item = &Played> {
    let own = move |cell: &Played| match cell.verdict().exit_code() {
        exit::AS_EXPECTED => exit::EXPECTED_FAILURE_MISSING,
        other => other,
    };
    played.iter().filter(move |cell| !cell.is_as_expected() && own(cell) == code)
}
