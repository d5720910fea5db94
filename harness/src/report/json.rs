//! What a program reads of a run.

use serde_json::{Value, json};

use super::{
    lines::line,
    played::{Played, exit_code},
};
use crate::{
    history::{Entry, History},
    verdict::Judged,
};

/// The whole report.
#[must_use]
pub fn json(played: &[Played]) -> Value {
    json!({
        "onceproof": env!("CARGO_PKG_VERSION"),
        "exit_code": exit_code(played),
        "cells": played.iter().map(cell).collect::<Vec<_>>(),
    })
}

fn cell(cell: &Played) -> Value {
    let verdict = cell.verdict();
    let history = &cell.outcome.history;
    let broken = verdict.rulings.iter().filter(|judged| !judged.ruling.why().is_empty());
    json!({
        "scenario": cell.plan.name,
        "title": cell.plan.scenario.title,
        "rules": cell.plan.scenario.rules,
        "profile": cell.plan.profile(),
        "ability": cell.plan.ability(),
        "variant": cell.plan.variant,
        "seed": cell.plan.seed(),
        "as_expected": cell.is_as_expected(),
        "differences": cell.differences,
        "because": cell.plan.expectation().because,
        "verdict": verdict.summary().kind(),
        "summary": verdict.to_string(),
        "broken": broken.map(|judged| ruling(judged, history)).collect::<Vec<_>>(),
        "unknown": verdict.unknown,
        "effects": verdict.effects,
        "idle_faults": verdict.idle_faults,
        "metrics": verdict.metrics,
        "signals": verdict.signals,
        "digest": cell.outcome.digest,
        "cost": cell.outcome.cost,
        "again": cell.again,
    })
}

/// A violated or waived invariant, with the entries that show it: a program may have no history file at hand.
fn ruling(judged: &Judged, history: &History) -> Value {
    let mut value = json!(judged);
    let shown =
        judged.ruling.evidence().iter().filter_map(|index| Some((index, history.entries.get(*index)?)));
    value["evidence"] = shown.map(|(index, entry)| evidence(*index, entry)).collect();
    value
}

fn evidence(index: usize, entry: &Entry) -> Value {
    json!({ "index": index, "line": line(entry), "entry": entry })
}
