//! What a watcher would have been told of a whole run (M2): the same signals as a gateway's own, from what was seen outside
//! of it. Duplicates are counted at the provider, so that what a gateway forgot in a crash is seen all the same.

use std::collections::BTreeMap;

use onceproof_gateway::signals::{Reading, Vitals};

use crate::history::{Event, History};

/// Same recipient and content within this is a duplicate (M2).
const WINDOW_MS: u64 = 5 * 60 * 1000;

/// Every signal of a run.
#[must_use]
pub fn readings(history: &History) -> Vec<Reading> {
    vitals(history).readings()
}

/// The effects of one operation have the same recipient and content: both are its own.
fn vitals(history: &History) -> Vitals {
    let mut vitals = Vitals::default();
    let mut dead_letters = 0;
    let mut acted: BTreeMap<&str, u64> = BTreeMap::new();
    let mut attempts = BTreeMap::new();
    for entry in &history.entries {
        match &entry.event {
            Event::Request { .. } => vitals.requests += 1,
            Event::Response { replay: true, .. } => vitals.replays += 1,
            Event::Effect { op, .. } => {
                let last = acted.insert(op, entry.at_ms);
                let is_again = last.is_some_and(|last_ms| entry.at_ms - last_ms < WINDOW_MS);
                vitals.escaped_duplicates += u64::from(is_again);
            }
            Event::Job { store, queue, id, what, attempt, .. } => match (what.as_str(), attempt) {
                ("leased", Some(attempt)) => {
                    attempts.insert((store, queue, *id), *attempt);
                }
                ("completed", _) => {
                    let made = attempts.remove(&(store, queue, *id)).unwrap_or(1);
                    vitals.completed(queue, made);
                }
                _ => {}
            },
            Event::DeadLetter { .. } => dead_letters += 1,
            _ => {}
        }
    }
    vitals.dead_letters = Some(dead_letters);
    vitals
}

#[cfg(test)]
mod tests {
    use onceproof_gateway::signals::{Level, Signal};

    use super::*;
    use crate::history::build::Build;

    fn raised(build: Build) -> Vec<Signal> {
        let readings = readings(&build.end().history()).into_iter();
        readings.filter(|it| it.level == Level::Raised).map(|it| it.signal).collect()
    }

    #[test]
    fn a_second_effect_within_five_minutes_is_an_escaped_duplicate() {
        let twice = |ms| Build::new().effect("a", "m1").effect("b", "m2").at(ms).effect("a", "m3");
        assert_eq!(raised(twice(WINDOW_MS - 1)), [Signal::EscapedDuplicates]);
        assert_eq!(raised(twice(WINDOW_MS)), []);
    }

    #[test]
    fn a_row_counts_with_its_last_attempt_when_it_is_done() {
        let leased = |attempt| Build::new().attempt("a", 1).attempt("a", attempt);
        assert_eq!(raised(leased(2).job("a", "completed", 2)), []);
        assert_eq!(raised(leased(3).job("a", "completed", 2)), [Signal::MedianAttempts]);
        assert_eq!(raised(leased(3)), [], "it is not done");
        assert_eq!(raised(leased(3).job("a", "completed (fenced)", 2)), []);
    }

    #[test]
    fn replays_and_dead_letters_are_counted() {
        let mut build = Build::new().effect("a", "m1");
        for call in 1..=20 {
            build = build.request("a", call, "k1");
            build = if call <= 2 { build.replay(call, "m1") } else { build.ok(call, "m1") };
        }
        assert_eq!(raised(build), [Signal::ReplayRate]);
        assert_eq!(raised(Build::new().dead_letter("a")), [Signal::DeadLetters]);
    }
}
