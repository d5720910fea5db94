//! Every rule about sending, receiving and watching has a scenario that shows it, and nothing is blessed without a reason.

#[path = "common/scenarios.rs"]
mod scenarios;

use std::collections::BTreeSet;

use onceproof::plan::Expectation;
use onceproof_gateway::{policy::Policy, provider};
use scenarios::scenarios;

/// The rules about sending: S12 and S13 are the producers' side.
const SENDING: [&str; 13] =
    ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "S12", "S13"];

/// The rules about watching.
const WATCHING: [&str; 3] = ["M1", "M2", "M3"];

/// The rules about receiving.
const RECEIVING: [&str; 11] = ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10", "W11"];

#[test]
fn every_rule_about_sending_receiving_and_watching_is_cited_by_a_scenario() {
    let scenarios = scenarios();
    let cited: BTreeSet<&str> =
        scenarios.iter().flat_map(|(_, scenario)| &scenario.rules).map(String::as_str).collect();
    let all = SENDING.into_iter().chain(RECEIVING).chain(WATCHING);
    let missing: Vec<&str> = all.filter(|rule| !cited.contains(rule)).collect();
    assert!(missing.is_empty(), "no scenario cites {}", missing.join(", "));
}

#[test]
fn every_cell_that_is_not_kept_says_why_with_a_known_rule() {
    let mut unexplained = Vec::new();
    for (name, scenario) in &scenarios() {
        for profile in &scenario.world.profiles {
            for ability in &scenario.world.abilities {
                let cell = scenario.expect.of(profile, *ability);
                if cell.verdict.as_deref() != Some("kept") && !is_explained(&cell) {
                    unexplained.push(format!("{name} {profile} {}", ability.name()));
                }
            }
        }
    }
    assert!(unexplained.is_empty(), "not kept, and no known rule says why: {}", unexplained.join("; "));
}

/// M3: a configuration that breaks because of its horizon was told so before it ran, and whoever is told so breaks
/// somewhere.
#[test]
fn what_breaks_because_of_its_horizon_is_told_before_it_runs() {
    let (mut told, mut broken) = (BTreeSet::new(), BTreeSet::new());
    for (name, scenario) in &scenarios() {
        if !scenario.rules.iter().any(|rule| rule == "M3") {
            continue;
        }
        for profile in &scenario.world.profiles {
            let Ok(policy) = Policy::profile_with(profile, &scenario.world.policy) else {
                // A system without a policy to look at.
                continue;
            };
            let configuration = format!("{profile} {}", scenario.world.policy);
            if policy.check(provider::Ability::Opaque).iter().any(|finding| finding.text.contains("M3")) {
                told.insert(configuration.clone());
            }
            for ability in &scenario.world.abilities {
                let cell = scenario.expect.of(profile, *ability);
                if cell.verdict.as_deref() == Some("violated") {
                    assert!(told.contains(&configuration), "{name} {profile}: nobody was told");
                    broken.insert(configuration.clone());
                }
            }
        }
    }
    assert_eq!(told, broken, "told for nothing");
    assert!(!told.is_empty(), "no scenario shows it");
}

/// Apart from the check of files, so that a hole in that one is seen here.
fn is_explained(cell: &Expectation) -> bool {
    let because = cell.because.as_deref().unwrap_or_default();
    let Some((rule, reason)) = because.split_once(": ") else { return false };
    let number = |letter| rule.strip_prefix(letter).and_then(|number: &str| number.parse::<u32>().ok());
    let is_known = [('S', 13), ('W', 11), ('M', 3), ('H', 5)]
        .into_iter()
        .any(|(letter, last)| number(letter).is_some_and(|number| (1..=last).contains(&number)));
    is_known && !reason.trim().is_empty()
}

#[test]
fn a_cell_that_is_not_kept_needs_a_known_rule() {
    let cell = |because: Option<&str>| Expectation {
        verdict: Some("violated".into()),
        because: because.map(Into::into),
        ..Expectation::default()
    };
    assert!(is_explained(&cell(Some("S10: a crash means \"not executed\""))));
    for because in [None, Some("S10"), Some("S10: "), Some("S14: x"), Some("X1: x"), Some("it forgets")] {
        assert!(!is_explained(&cell(because)), "{because:?}");
    }
}
