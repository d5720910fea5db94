//! Looks for a mutant with the plans of `strict`: it is killed by each that breaks a promise which `strict` keeps.

use super::Mutant;
use crate::{
    invariants::Ruling,
    plan::Plan,
    run::{Options, Outcome, RunError, run_with},
    sim::engine::Engine,
};

/// A plan that sees the mutant.
#[derive(Debug)]
pub struct Kill {
    /// Its place among the plans that were tried, from 1.
    pub case: usize,
    /// The plan.
    pub plan: Plan,
    /// The invariants that are broken; none where only the expectation of the plan is not met.
    pub invariants: Vec<&'static str>,
    /// How many events the shortest evidence has.
    pub evidence: usize,
}

/// What became of a mutant.
#[derive(Debug)]
pub struct Hunted {
    /// Which.
    pub mutant: &'static Mutant,
    /// How many plans were tried.
    pub cases: usize,
    /// Who sees it, in order.
    pub kills: Vec<Kill>,
}

impl Hunted {
    /// The kills that break a promise, and do not merely differ from what a scenario expects.
    pub fn by_invariant(&self) -> impl Iterator<Item = &Kill> {
        self.kills.iter().filter(|kill| !kill.invariants.is_empty())
    }

    /// The kill that takes least to be understood.
    #[must_use]
    pub fn shortest(&self) -> Option<&Kill> {
        self.by_invariant().min_by_key(|kill| (kill.evidence, kill.case))
    }

    /// The names of the scenarios that kill it by a promise, in order.
    #[must_use]
    pub fn scenarios(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.by_invariant().map(|kill| kill.plan.name.as_str()).collect();
        names.dedup();
        names
    }

    /// The invariants that it breaks, the most frequent first.
    #[must_use]
    pub fn invariants(&self) -> Vec<&'static str> {
        let all: Vec<&'static str> =
            self.kills.iter().flat_map(|kill| kill.invariants.iter().copied()).collect();
        let count = |name: &str| all.iter().filter(|other| **other == name).count();
        let mut names = all.clone();
        names.sort_by_key(|name| (std::cmp::Reverse(count(name)), *name));
        names.dedup();
        names
    }
}

/// Tries every plan whose provider has an ability under which the mutant can hurt.
///
/// # Errors
/// As [`run_with`].
pub fn hunt(mutant: &'static Mutant, plans: &[Plan], engine: &dyn Engine) -> Result<Hunted, RunError> {
    let mut hunted = Hunted { mutant, cases: 0, kills: Vec::new() };
    for plan in plans.iter().filter(|plan| mutant.abilities.contains(&plan.ability())) {
        hunted.cases += 1;
        let outcome = run_with(plan, engine, Options { mutant: Some(mutant), ..Options::default() })?;
        hunted.kills.extend(kill(hunted.cases, plan, &outcome));
    }
    Ok(hunted)
}

fn kill(case: usize, plan: &Plan, outcome: &Outcome) -> Option<Kill> {
    let verdict = &outcome.verdict;
    if verdict.differences(&plan.expectation()).is_empty() {
        return None;
    }
    let violated = || verdict.violated().map(|judged| &judged.ruling);
    let evidence = violated().map(Ruling::evidence).map(<[usize]>::len).min().unwrap_or(0);
    let invariants = verdict.violated().map(|judged| judged.name).collect();
    Some(Kill { case, plan: plan.clone(), invariants, evidence })
}
