//! What the scenarios are there for: every rule is shown by one that cites it, and no list names a scenario that is not there.

#[path = "common/scenarios.rs"]
mod scenarios;

use std::collections::BTreeSet;

use onceproof::{
    mutants::{self, Deeds, hunt, situations},
    plan::{Plan, STRICT},
    sim::event::EventEngine,
};
use scenarios::scenarios;

/// Rules about watching, which change no verdict: what is counted, and what a watcher is told, is compared with what the
/// stories that cite them expect.
const NOT_SHOWN: [&str; 2] = ["M1", "M2"];

fn plans(profile: Option<&str>) -> Vec<Plan> {
    scenarios().iter().flat_map(|(name, scenario)| scenario.expand(name, 1, profile)).collect()
}

/// A citation alone shows nothing: breaking the rule has to change the verdict.
#[test]
fn every_rule_is_shown_by_a_scenario_that_cites_it() {
    let strict = plans(Some(STRICT));
    let hunted = mutants::ALL.iter().map(|mutant| hunt(mutant, &strict, &EventEngine).expect("it plays"));
    let hunted: Vec<_> = hunted.collect();
    let blind: Vec<&str> = hunted
        .iter()
        .filter(|hunted| hunted.by_invariant().next().is_none())
        .map(|hunted| hunted.mutant.name)
        .collect();
    assert!(blind.is_empty(), "nobody sees {}", blind.join(", "));
    let deeds = Deeds::of(&hunted, &plans(None), &EventEngine).expect("it plays");
    let shown = deeds.shown();
    let all = (1..=13).map(|n| format!("S{n}")).chain((1..=11).map(|n| format!("W{n}")));
    let all = all.chain((1..=3).map(|n| format!("M{n}")));
    let is_excused = |rule: &String| NOT_SHOWN.contains(&rule.as_str());
    let missing: Vec<String> =
        all.filter(|rule| !shown.contains(rule.as_str()) && !is_excused(rule)).collect();
    assert!(missing.is_empty(), "no scenario shows {}", missing.join(", "));
}

#[test]
fn every_situation_is_played_by_scenarios_that_are_there() {
    let known: BTreeSet<String> = scenarios().into_iter().map(|(name, _)| name).collect();
    let mut count = 0;
    for (situation, names) in situations() {
        let names: Vec<&str> = names.collect();
        assert!(!names.is_empty(), "nobody plays: {situation}");
        for name in names {
            assert!(known.contains(name), "{situation}: there is no scenario {name}");
        }
        count += 1;
    }
    assert!(count > 30, "{count}");
}
