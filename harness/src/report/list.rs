//! Cells that are good only when one knows why: what is visibly unknown, and what is waived.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{lines::short, played::Played};
use crate::{
    history::Event,
    invariants::Ruling,
    verdict::{Summary, Verdict},
};
use onceproof_gateway::store::Slot;

const UNKNOWN: &str = "\
kept ?n: no promise is broken, and n messages are visibly unknown: the gateway cannot learn whether they went out.
It gave up on sending again, rather than risk a second message; a person must look:";

const WAIVED: &str = "waived: a promise is broken only where it does not bind; the waiver is named:";

/// The block of all cells that are kept with something unknown, or nothing.
#[must_use]
pub fn unknown(played: &[Played]) -> String {
    let is_listed =
        |cell: &&Played| matches!(cell.verdict().summary(), Summary::Kept { unknown } if unknown > 0);
    let lines = played.iter().filter(is_listed).map(|cell| (cell, unknown_words(cell)));
    block(UNKNOWN, lines.collect())
}

/// The block of all cells that are waived, or nothing.
#[must_use]
pub fn waived(played: &[Played]) -> String {
    let is_listed = |cell: &&Played| matches!(cell.verdict().summary(), Summary::Waived { .. });
    let lines = played.iter().filter(is_listed).map(|cell| (cell, waived_words(cell.verdict())));
    block(WAIVED, lines.collect())
}

/// A line for each scenario, ability and fate; profiles that share them share the line.
fn block(heading: &str, cells: Vec<(&Played, String)>) -> String {
    if cells.is_empty() {
        return String::new();
    }
    let mut lines: Vec<(&Played, Vec<&str>, String)> = Vec::new();
    for (cell, words) in cells {
        let same = |(first, _, known): &&mut (&Played, Vec<&str>, String)| {
            first.plan.name == cell.plan.name
                && first.plan.ability() == cell.plan.ability()
                && *known == words
        };
        match lines.iter_mut().find(same) {
            Some((_, profiles, _)) if profiles.contains(&cell.plan.profile()) => {}
            Some((_, profiles, _)) => profiles.push(cell.plan.profile()),
            None => lines.push((cell, vec![cell.plan.profile()], words)),
        }
    }
    let names = lines.iter().map(|(cell, ..)| cell.plan.name.len()).max().unwrap_or(0);
    let abilities = lines.iter().map(|(cell, ..)| cell.plan.ability().name().len()).max().unwrap_or(0);
    let mut text = format!("{heading}\n");
    for (cell, profiles, words) in lines {
        let (name, ability) = (&cell.plan.name, cell.plan.ability().name());
        let _ = writeln!(text, "  {name:<names$}  {ability:<abilities$}  {words} ({})", profiles.join(", "));
    }
    text
}

fn unknown_words(cell: &Played) -> String {
    let words: Vec<String> = cell.verdict().unknown.iter().map(|slot| unknown_message(cell, slot)).collect();
    words.join("; ")
}

/// The provider's ledger knows what the gateway could not.
fn unknown_message(cell: &Played, slot: &Slot) -> String {
    let sent = cell.outcome.history.entries.iter().find_map(|entry| match &entry.event {
        Event::Request { op, scope, key: Some(key), .. }
        | Event::Job { op: Some(op), scope: Some(scope), key: Some(key), .. }
        | Event::WorkerSend { op, scope, key, .. }
            if *scope == slot.scope && *key == slot.key =>
        {
            Some(op)
        }
        _ => None,
    });
    let key = short(&slot.key);
    match sent {
        None => format!("key {key}"),
        Some(op) => match cell.verdict().effects.get(op) {
            None | Some(0) => format!("{op}, key {key}, never went out"),
            Some(1) => format!("{op}, key {key}, went out once"),
            Some(times) => format!("{op}, key {key}, went out {times} times"),
        },
    }
}

fn waived_words(verdict: &Verdict) -> String {
    let mut by_waiver: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for judged in &verdict.rulings {
        if let Ruling::Waived { waiver, .. } = judged.ruling {
            by_waiver.entry(waiver).or_default().push(judged.name);
        }
    }
    let words = by_waiver.iter().map(|(waiver, names)| format!("{waiver}: {}", names.join(", ")));
    words.collect::<Vec<_>>().join("; ")
}
