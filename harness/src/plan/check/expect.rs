//! Checks of what is expected.

use std::collections::BTreeSet;

use onceproof_gateway::{metrics::SUMMED, policy::Policy, signals::Signal};

use super::File;
use crate::history::Ability;
use crate::invariants;
use crate::plan::places::Place;
use crate::plan::{Expectation, PlanError, Scenario, meant, names};
use crate::verdict::DEAD_LETTERS;

/// Refuses unknown keys of `[expect]` before serde meets them: it would take each for a profile.
pub(in crate::plan) fn expectation_keys(file: &File<'_>) -> Result<(), PlanError> {
    let expect = Place::root().key("expect");
    for key in file.places.keys(&expect) {
        let here = expect.key(key);
        if Expectation::FIELDS.contains(&key) {
            continue;
        }
        if !file.places.is_table(&here) {
            return Err(unknown_field(file, &here, key, &[]));
        }
        for key in file.places.keys(&here) {
            let known = Expectation::FIELDS.contains(&key) || names::ABILITIES.contains(&key);
            if !known {
                return Err(unknown_field(file, &here.key(key), key, &names::ABILITIES));
            }
        }
    }
    Ok(())
}

fn unknown_field(file: &File<'_>, place: &Place, key: &str, more: &[&str]) -> PlanError {
    let known: Vec<&str> = Expectation::FIELDS.iter().chain(more).copied().collect();
    file.mistaken_key(place, format!("unknown field `{key}`")).help(meant::one_of(key, &known))
}

pub(super) fn check(file: &File<'_>, scenario: &Scenario) -> Result<(), PlanError> {
    let place = Place::root().key("expect");
    let ops = Known::of(scenario);
    layer(file, &place, &scenario.expect.default, &ops)?;
    for (profile, expectation) in &scenario.expect.by_profile {
        let here = place.key(profile);
        if !scenario.world.profiles.contains(profile) {
            return Err(file
                .mistaken_key(&here, format!("profile `{profile}` does not play in this scenario"))
                .help(meant::one_of(profile, &scenario.world.profiles)));
        }
        layer(file, &here, &expectation.default, &ops)?;
        metrics_are_counted(file, &here, profile, &expectation.default)?;
        for (ability, expectation) in &expectation.by_ability {
            let word = word(*ability);
            if !scenario.world.abilities.contains(ability) {
                let known: Vec<&str> = scenario.world.abilities.iter().copied().map(self::word).collect();
                return Err(file
                    .mistaken_key(&here.key(word), format!("ability `{word}` does not play in this scenario"))
                    .help(meant::one_of(word, &known)));
            }
            layer(file, &here.key(word), expectation, &ops)?;
            metrics_are_counted(file, &here.key(word), profile, expectation)?;
        }
    }
    cells(file, scenario)
}

/// A profile that counts nothing inherits no metrics, and may not be said to have any.
fn metrics_are_counted(
    file: &File<'_>,
    place: &Place,
    profile: &str,
    layer: &Expectation,
) -> Result<(), PlanError> {
    if layer.metrics.is_none() || names::counts(profile) {
        return Ok(());
    }
    let counting: Vec<&str> = Policy::profile_names().collect();
    Err(file
        .mistaken_key(&place.key("metrics"), format!("profile `{profile}` has no metrics"))
        .help(format!("these have: {}", meant::list(&counting))))
}

/// What an expectation may name.
struct Known {
    /// What may act.
    acts: BTreeSet<String>,
    /// What may be a dead letter.
    delivered: BTreeSet<String>,
    /// What is answered: also a batch, which acts only in its items, and a redrive of many.
    answered: BTreeSet<String>,
}

impl Known {
    fn of(scenario: &Scenario) -> Self {
        let acts = scenario.ops();
        let batches = scenario.deliveries().map(|deliver| deliver.op.clone());
        let all = scenario.steps.iter().filter_map(|step| step.redrive.as_ref()?.filter.as_ref());
        let all = all.map(|_| DEAD_LETTERS.to_owned());
        let delivered = scenario.event_ops();
        Self { delivered, answered: batches.chain(all).chain(acts.iter().cloned()).collect(), acts }
    }
}

/// What can be wrong in one table, whatever it inherits.
fn layer(file: &File<'_>, place: &Place, layer: &Expectation, known: &Known) -> Result<(), PlanError> {
    let effects = layer.effects.iter().flatten().map(|(op, _)| ("effects", op, &known.acts));
    let answers = layer.answers.iter().flatten().map(|(op, _)| ("answers", op, &known.answered));
    let dead = layer.dead.iter().flatten().map(|(op, _)| ("dead", op, &known.delivered));
    for (field, op, known) in effects.chain(answers).chain(dead) {
        if !known.contains(op) {
            let known: Vec<&String> = known.iter().collect();
            return Err(file
                .mistaken_key(&place.key(field).key(op), format!("no step sends `{op}`"))
                .help(meant::one_of(op, &known)));
        }
    }
    for (op, answers) in layer.answers.iter().flatten() {
        for (i, answer) in answers.iter().enumerate() {
            self::answer(file, &place.key("answers").key(op).item(i), answer)?;
        }
    }
    if let Some(verdict) = &layer.verdict {
        file.known(&place.key("verdict"), "verdict", verdict, &names::VERDICTS)?;
    }
    let invariants: Vec<&str> = invariants::ALL.iter().map(|invariant| invariant.name).collect();
    for (i, name) in layer.invariants.iter().flatten().enumerate() {
        file.known(&place.key("invariants").item(i), "invariant", name, &invariants)?;
    }
    for name in layer.metrics.iter().flatten().map(|(name, _)| name) {
        if !SUMMED.contains(&name.as_str()) {
            return Err(file
                .mistaken_key(&place.key("metrics").key(name), format!("unknown metric `{name}`"))
                .help(meant::one_of(name, &SUMMED)));
        }
    }
    let signals = Signal::ALL.map(Signal::name);
    for (i, name) in layer.signals.iter().flatten().enumerate() {
        file.known(&place.key("signals").item(i), "signal", name, &signals)?;
    }
    let kept = layer.verdict.as_deref() == Some("kept");
    if kept && layer.invariants.as_ref().is_some_and(|list| !list.is_empty()) {
        return Err(file
            .mistake(&place.key("invariants"), "a verdict of `kept` has no violated invariants")
            .help("leave `invariants` out, or say `violated` or `waived`"));
    }
    let Some(because) = &layer.because else {
        return Ok(());
    };
    let (rule, reason) = because.split_once(':').unwrap_or((because, ""));
    if !names::is_rule(rule) || reason.trim().is_empty() {
        return Err(file
            .mistake(&place.key("because"), "the reason does not begin with a rule")
            .help(format!("write `because = \"S10: what the rule does\"`; {}", names::RULES_HELP)));
    }
    Ok(())
}

/// An answer is spelled as a verdict spells it; no other could ever be met.
fn answer(file: &File<'_>, place: &Place, answer: &str) -> Result<(), PlanError> {
    let words = ["look-up ", "resolve ", "redrive ", "sent ", "delivered ", "read ", "failed "];
    let asked = words.into_iter().find_map(|word| answer.strip_prefix(word));
    let is_status = |word: &str| word.len() == 3 && word.parse().is_ok_and(|n: u16| (100..=599).contains(&n));
    let good = match asked.unwrap_or(answer).split_once(' ') {
        None => is_status(asked.unwrap_or(answer)) || asked == Some("none"),
        Some(("none", reason)) => !reason.is_empty(),
        Some((status, rest)) => is_status(status) && !rest.is_empty(),
    };
    if good {
        return Ok(());
    }
    Err(file.mistake(place, format!("`{answer}` is no answer")).help(
        "write `200`, `200 replay`, `504 outcome-unknown`, `none timeout`, `look-up 200 sent`, \
         `resolve 409 too-early`, `redrive 409 not-dead` or `delivered 200`",
    ))
}

/// What can be wrong in a cell, with all that it inherits.
fn cells(file: &File<'_>, scenario: &Scenario) -> Result<(), PlanError> {
    for profile in &scenario.world.profiles {
        for ability in &scenario.world.abilities {
            let cell = scenario.expect.of(profile, *ability);
            let verdict = cell.verdict.as_deref().unwrap_or("kept");
            let place = said_at(file, profile, *ability);
            let of = format!("`{verdict}` for {profile} with a provider that is {}", word(*ability));
            if verdict != "kept" && cell.because.is_none() {
                return Err(file.mistake(&place, format!("{of} has no reason")).help(
                    "add `because = \"S10: …\"`, so that nothing is blessed only because it happened",
                ));
            }
            if matches!(verdict, "violated" | "waived") && cell.invariants.unwrap_or_default().is_empty() {
                return Err(file
                    .mistake(&place, format!("{of} does not say which invariants"))
                    .help("add `invariants = [\"once\"]`, exactly those that are violated or waived"));
            }
        }
    }
    Ok(())
}

/// Where the verdict of a cell is said: in the nearest table that says one.
fn said_at(file: &File<'_>, profile: &str, ability: Ability) -> Place {
    let default = Place::root().key("expect");
    let by_profile = default.key(profile);
    [by_profile.key(word(ability)), by_profile, default.clone()]
        .into_iter()
        .map(|table| table.key("verdict"))
        .find(|verdict| file.places.says(verdict))
        .unwrap_or(default)
}

/// An ability as it is written.
fn word(ability: Ability) -> &'static str {
    ability.name()
}
