//! The matrix as grids: one for each profile, a line for each kind of place.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};

use crate::matrix::{Cell, Fate, Hurt, Played, Retry, Workload};

/// The command that plays a cell again.
pub type Again = fn(&Cell) -> String;

/// What the glyphs of a grid mean.
const LEGEND: &str = "\
D duplicate  L lost  W wedged  B another promise broken  ? visibly unknown  w waived  · kept  - nothing was put to the test
four glyphs: who got no answer comes back never, at once, after the leases, after the TTL; the worst of all abilities";

/// For people. With a way to play a cell again, the bad ones are listed.
#[must_use]
pub fn text(cells: &[Cell], played: &[Played], again: Option<Again>) -> String {
    let mut text = String::new();
    for profile in in_order(cells.iter().map(|cell| cell.profile.as_str())) {
        let of: Vec<(&Cell, &Played)> =
            cells.iter().zip(played).filter(|(cell, _)| cell.profile == profile).collect();
        grid(&mut text, profile, &of);
        if let Some(again) = again {
            bad(&mut text, &of, again);
        }
        text.push('\n');
    }
    text.push_str(LEGEND);
    text.push('\n');
    text.push_str(&totals(cells, played));
    text
}

fn grid(text: &mut String, profile: &str, of: &[(&Cell, &Played)]) {
    let width = of.iter().map(|(cell, _)| cell.place.kind().chars().count()).max().unwrap_or(0).max(10) + 1;
    let _ = writeln!(text, "── {profile}: {}", counts(of.iter().map(|(_, played)| played.fate)));
    let heads = Hurt::ALL.map(|hurt| format!("{:<20}", hurt.name()).to_owned());
    let _ = writeln!(text, "{:<width$}  {}", "", heads.concat().trim_end());
    for workload in Workload::ALL {
        let here: Vec<_> = of.iter().filter(|(cell, _)| cell.workload == workload).copied().collect();
        if here.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{workload}");
        let mut kinds: Vec<String> = Vec::new();
        for (cell, _) in &here {
            let kind = cell.place.kind();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        for kind in kinds {
            let row: Vec<_> = here.iter().filter(|(cell, _)| cell.place.kind() == kind).copied().collect();
            let glyphs = Hurt::ALL.map(|hurt| format!("{:<20}", glyphs(&row, hurt)));
            let _ = writeln!(text, "  {kind:<width$}{}", glyphs.concat().trim_end());
        }
    }
}

/// One for each way to come back: the worst fate of all abilities and numbers.
fn glyphs(row: &[(&Cell, &Played)], hurt: Hurt) -> String {
    let glyph = |retry| {
        let fates = row.iter().filter(|(cell, _)| cell.hurt == hurt && cell.retry == retry);
        fates.map(|(_, played)| played.fate).min().map_or(' ', Fate::glyph)
    };
    Retry::ALL.map(glyph).iter().collect()
}

/// The bad cells: one line for all that share place, hurt and fate.
fn bad(text: &mut String, of: &[(&Cell, &Played)], again: Again) {
    let mut groups: BTreeMap<_, (usize, &Cell, &Played)> = BTreeMap::new();
    for (cell, played) in of.iter().filter(|(_, played)| played.fate.is_bad()) {
        let key = (cell.workload, cell.place.kind(), cell.hurt, played.fate);
        groups.entry(key).or_insert((0, cell, played)).0 += 1;
    }
    for ((_, _, _, fate), (count, cell, played)) in groups {
        let more = if count > 1 { format!(" and {} like it", count - 1) } else { String::new() };
        let _ = writeln!(text, "{fate} ({}){more}: {}", played.invariants.join(", "), again(cell));
    }
}

fn counts(fates: impl Iterator<Item = Fate> + Clone) -> String {
    let total = fates.clone().count();
    let of = |fate: Fate| (fate, fates.clone().filter(|other| *other == fate).count());
    let counted = Fate::ALL.map(of).into_iter().filter(|(_, count)| *count > 0);
    let counted: Vec<String> = counted.map(|(fate, count)| format!("{count} {fate}")).collect();
    format!("{total} cells: {}", counted.join(", "))
}

fn totals(cells: &[Cell], played: &[Played]) -> String {
    let simulated_ms: u64 = played.iter().map(|played| played.simulated_ms).sum();
    format!("{} cells; {} days of simulated time", cells.len(), simulated_ms / 86_400_000)
}

fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

/// For programs: every cell, and for each bad one the command that plays it again.
#[must_use]
pub fn json(cells: &[Cell], played: &[Played], again: Again) -> String {
    let cell = |(cell, played): (&Cell, &Played)| {
        let mut value = json!({
            "cell": cell.to_string(),
            "fate": played.fate,
            "invariants": played.invariants,
        });
        if played.fate.is_bad() {
            value["again"] = again(cell).into();
        }
        value
    };
    let cells: Vec<Value> = cells.iter().zip(played).map(cell).collect();
    json!({ "cells": cells }).to_string()
}
