//! What a scenario is there for: what nobody would see without it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Hunted, Mutant};
use crate::{
    history::Event,
    plan::{Plan, STRICT},
    run::{RunError, run},
    sim::engine::Engine,
};

/// What one scenario alone does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Worth {
    /// The mutants that it alone kills.
    pub kills: Vec<&'static str>,
    /// The rules that it alone shows: it cites them, and a mutant or a profile that breaks them changes its verdict.
    pub shows: Vec<String>,
    /// The named points that it alone reaches.
    pub reaches: Vec<String>,
    /// The situations that it plays, of those that have to be seen.
    pub plays: Vec<String>,
}

impl Worth {
    /// Whether nothing would be lost without it.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self == &Self::default()
    }
}

/// What every scenario does, by name.
#[derive(Debug, Default)]
pub struct Deeds {
    kills: BTreeMap<String, BTreeSet<&'static str>>,
    shows: BTreeMap<String, BTreeSet<String>>,
    reaches: BTreeMap<String, BTreeSet<String>>,
    plays: BTreeMap<String, Vec<String>>,
}

impl Deeds {
    /// From a hunt of all mutants, and from every plan of every profile, each of which is played once.
    ///
    /// # Errors
    /// As [`run`].
    pub fn of(hunted: &[Hunted], plans: &[Plan], engine: &dyn Engine) -> Result<Self, RunError> {
        let mut deeds = Self::default();
        for hunted in hunted {
            deeds.note_kills(hunted);
        }
        for plan in plans {
            deeds.note_because(plan);
            for entry in &run(plan, engine)?.history.entries {
                if let Event::Point { point, .. } = &entry.event {
                    deeds.reaches.entry(plan.name.clone()).or_default().insert(point.clone());
                }
            }
        }
        for (situation, names) in situations() {
            for name in names {
                deeds.plays.entry(name.to_owned()).or_default().push(situation.to_owned());
            }
        }
        Ok(deeds)
    }

    fn note_kills(&mut self, hunted: &Hunted) {
        let mutant: &'static Mutant = hunted.mutant;
        for kill in hunted.by_invariant() {
            let name = &kill.plan.name;
            self.kills.entry(name.clone()).or_default().insert(mutant.name);
            let cited = mutant
                .rules
                .iter()
                .filter(|rule| kill.plan.scenario.rules.iter().any(|cited| cited == *rule));
            self.shows.entry(name.clone()).or_default().extend(cited.map(|rule| (*rule).to_owned()));
        }
    }

    /// A cell of another profile that is broken as expected shows the rule that it is broken by.
    fn note_because(&mut self, plan: &Plan) {
        let expected = plan.expectation();
        if plan.profile() == STRICT || expected.verdict.as_deref() == Some("kept") {
            return;
        }
        let rule =
            expected.because.as_deref().and_then(|because| because.split_once(':')).map(|(rule, _)| rule);
        if let Some(rule) = rule.filter(|rule| plan.scenario.rules.iter().any(|cited| cited == rule)) {
            self.shows.entry(plan.name.clone()).or_default().insert(rule.to_owned());
        }
    }

    /// The rules that any scenario shows.
    #[must_use]
    pub fn shown(&self) -> BTreeSet<&str> {
        self.shows.values().flatten().map(String::as_str).collect()
    }

    /// What nobody would see without this scenario.
    #[must_use]
    pub fn worth(&self, scenario: &str) -> Worth {
        Worth {
            kills: alone(&self.kills, scenario),
            shows: alone(&self.shows, scenario),
            reaches: alone(&self.reaches, scenario),
            plays: self.plays.get(scenario).cloned().unwrap_or_default(),
        }
    }
}

/// What this scenario has and no other.
fn alone<T: Ord + Clone>(all: &BTreeMap<String, BTreeSet<T>>, scenario: &str) -> Vec<T> {
    let of_others = |thing: &T| all.iter().any(|(name, things)| name != scenario && things.contains(thing));
    all.get(scenario).into_iter().flatten().filter(|thing| !of_others(thing)).cloned().collect()
}

/// The situations that have to be seen, and the scenarios that play each.
pub fn situations() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str>)> {
    let lines = include_str!("../../../scenarios/situations.txt").lines();
    let lines = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(": "))
        .map(|(situation, names)| (situation, names.split_whitespace()))
}
