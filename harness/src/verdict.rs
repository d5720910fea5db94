//! The verdict on a history: what every invariant rules, in one line and in full.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use onceproof_gateway::{
    signals::{Level, Reading},
    store::{Slot, State},
};
use serde::Serialize;

use crate::exit;
use crate::history::{Event, History};
use crate::invariants::{self, Kind, Ruling};
use crate::plan::Expectation;
use crate::signals;

/// Where the answers to a redrive by a filter stand, which is of no one operation.
pub const DEAD_LETTERS: &str = "dead-letters";

/// What one invariant rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// The invariant's name.
    pub name: &'static str,
    /// Whether it is about safety or liveness.
    pub kind: Kind,
    /// What it rules.
    #[serde(flatten)]
    pub ruling: Ruling,
}

/// What all invariants rule on one history, and what was counted in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Every invariant's ruling, in the order of [`invariants::ALL`].
    pub rulings: Vec<Judged>,
    /// The keys whose outcome is visibly unknown at the end: records in state `unknown`, and `done` ones that
    /// keep a server error (S6). Sorted.
    pub unknown: Vec<Slot>,
    /// How often each operation acted, by its name.
    pub effects: BTreeMap<String, u32>,
    /// What each call of an operation came to, in order: `200`, `200 replay`, `504 outcome-unknown`, `none timeout`;
    /// among the calls, in the order of time, look-ups, such as `look-up 200 sent`, what an operator was told, such
    /// as `resolve 409 too-early`, and what a status of its message was answered with, such as `delivered 200`. A
    /// delivery of an event is a call of the event; what became of a redrive by a filter stands under
    /// [`DEAD_LETTERS`], such as `redrive 200 2 back, 0 too old`.
    pub answers: BTreeMap<String, Vec<String>>,
    /// Why each event is a dead letter at the end, by its name.
    pub dead: BTreeMap<String, String>,
    /// Faults of the plan that never struck.
    pub idle_faults: Vec<u32>,
    /// What was counted (M1), over all gateways and stores; `None` where nobody counts.
    pub metrics: Option<BTreeMap<String, u64>>,
    /// What a watcher would have been told (M2).
    pub signals: Vec<Reading>,
    /// Whether any effect, any answer, any claim or any order was observed.
    pub observed: bool,
}

/// A verdict in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Summary {
    /// Every promise that was put to the test held.
    Kept {
        /// How many messages are visibly unknown at the end.
        unknown: usize,
    },
    /// A promise was broken.
    Violated {
        /// The invariants.
        invariants: Vec<&'static str>,
    },
    /// A promise was broken, and only where it does not bind.
    Waived {
        /// The invariants.
        invariants: Vec<&'static str>,
    },
    /// The case did not test what it says.
    Inconclusive {
        /// Why, such as `fault 2 never struck`.
        why: String,
    },
}

/// Judges a history by every invariant. Never panics, whatever the history holds.
#[must_use]
pub fn judge(history: &History) -> Verdict {
    let judged = |invariant: &invariants::Invariant| Judged {
        name: invariant.name,
        kind: invariant.kind,
        ruling: (invariant.judge)(history),
    };
    let effects = history.effects().into_iter();
    Verdict {
        rulings: invariants::ALL.iter().map(judged).collect(),
        unknown: unknown(history),
        effects: effects.map(|(op, n)| (op.to_owned(), n)).collect(),
        answers: answers(history),
        dead: dead(history),
        idle_faults: idle_faults(history),
        metrics: metrics(history),
        signals: signals::readings(history),
        observed: history.entries.iter().any(|entry| {
            let granted = matches!(entry.event, Event::Store { granted: Some(_), .. });
            granted
                || matches!(
                    entry.event,
                    Event::Effect { .. }
                        | Event::Response { .. }
                        | Event::DeliveryAnswer { .. }
                        | Event::Ordered { .. }
                )
        }),
    }
}

fn unknown(history: &History) -> Vec<Slot> {
    let mut unknown = BTreeSet::new();
    for entry in &history.entries {
        if let Event::Record { scope, key, state, status, .. } = &entry.event
            && (*state == State::Unknown
                || (*state == State::Done && status.is_some_and(|status| status >= 500)))
        {
            let (scope, key) = (scope.clone(), key.clone());
            unknown.insert(Slot { scope, key });
        }
    }
    unknown.into_iter().collect()
}

/// A call stands where it was sent, whatever it came to later.
fn answers(history: &History) -> BTreeMap<String, Vec<String>> {
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut places = BTreeMap::new();
    let mut about: BTreeMap<u32, String> = BTreeMap::new();
    for entry in &history.entries {
        let (op, call, said) = match &entry.event {
            Event::RedriveAll { status, redriven, too_old, problem, .. } => {
                let counts = status.map(|_| format!("{redriven} back, {too_old} too old"));
                let said = words("redrive ", *status, &[problem.as_deref(), counts.as_deref()]);
                answers.entry(DEAD_LETTERS.to_owned()).or_default().push(said);
                continue;
            }
            Event::Request { op, call, .. } | Event::Delivery { op, call, .. } => {
                if let Event::Delivery { status: Some(status), .. } = &entry.event {
                    about.insert(*call, format!("{status} "));
                }
                let of = answers.entry(op.clone()).or_default();
                places.entry(*call).or_insert_with(|| {
                    of.push("none pending".to_owned());
                    of.len() - 1
                });
                continue;
            }
            Event::Response { op, call, status, replay, problem, .. } => {
                let replay = replay.then_some("replay");
                (op, Some(*call), words("", Some(*status), &[problem.as_deref(), replay]))
            }
            Event::DeliveryAnswer { op, call, status, problem } => {
                let what = about.get(call).map_or("", String::as_str);
                (op, Some(*call), words(what, Some(*status), &[problem.as_deref()]))
            }
            Event::NoResponse { op, call, reason } => {
                let what = about.get(call).map_or("", String::as_str);
                (op, Some(*call), words(what, None, &[Some(reason)]))
            }
            Event::LookUp { op, status, says, .. } => {
                (op, None, words("look-up ", *status, &[says.as_deref()]))
            }
            Event::Redrive { op, status, problem } => {
                (op, None, words("redrive ", *status, &[problem.as_deref()]))
            }
            Event::Resolve { op, status, problem, .. } => {
                (op, None, words("resolve ", *status, &[problem.as_deref()]))
            }
            _ => continue,
        };
        let of = answers.entry(op.clone()).or_default();
        match call.and_then(|call| places.get(&call)).and_then(|place| of.get_mut(*place)) {
            Some(pending) => *pending = said,
            None => of.push(said),
        }
    }
    answers
}

fn words(what: &str, status: Option<u16>, more: &[Option<&str>]) -> String {
    let mut words = what.to_owned() + &status.map_or_else(|| "none".to_owned(), |status| status.to_string());
    for word in more.iter().flatten() {
        words.push(' ');
        words.push_str(word);
    }
    words
}

fn dead(history: &History) -> BTreeMap<String, String> {
    let letters = history.entries.iter().filter_map(|entry| match &entry.event {
        Event::DeadLetter { op, why } => Some((op.clone(), why.clone())),
        _ => None,
    });
    letters.collect()
}

fn metrics(history: &History) -> Option<BTreeMap<String, u64>> {
    let mut metrics: Option<BTreeMap<String, u64>> = None;
    for entry in &history.entries {
        if let Event::Metrics { values, .. } = &entry.event {
            let all = metrics.get_or_insert_default();
            for (name, value) in values {
                *all.entry(name.clone()).or_default() += value;
            }
        }
    }
    metrics
}

fn idle_faults(history: &History) -> Vec<u32> {
    let mut idle = Vec::new();
    for entry in &history.entries {
        if let Event::End { idle_faults } = &entry.event {
            idle.extend(idle_faults);
        }
    }
    idle
}

impl Verdict {
    /// The verdict in one line. A breach outweighs everything; a case that did not test what it says outweighs
    /// a waiver and a kept promise.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let violated = self.names(Ruling::is_violated);
        let waived = self.names(|ruling| matches!(ruling, Ruling::Waived { .. }));
        if !violated.is_empty() {
            Summary::Violated { invariants: violated }
        } else if let Some(why) = self.untested() {
            Summary::Inconclusive { why }
        } else if !waived.is_empty() {
            Summary::Waived { invariants: waived }
        } else {
            Summary::Kept { unknown: self.unknown.len() }
        }
    }

    /// The rulings that say a promise was broken.
    pub fn violated(&self) -> impl Iterator<Item = &Judged> {
        self.rulings.iter().filter(|judged| judged.ruling.is_violated())
    }

    /// What the verdict alone says to a pipeline.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match (self.broken(), self.summary()) {
            (Some(Kind::Safety), _) => exit::SAFETY,
            (Some(Kind::Liveness), _) => exit::LIVENESS,
            (None, Summary::Inconclusive { .. }) => exit::INCONCLUSIVE,
            (None, _) => exit::AS_EXPECTED,
        }
    }

    /// The kind of promise that was broken, if any: safety also where both were.
    #[must_use]
    pub fn broken(&self) -> Option<Kind> {
        self.violated().map(|judged| judged.kind).min()
    }

    /// How this verdict differs from what was expected, a line each; empty where it is as expected.
    ///
    /// What an expectation leaves out is not compared.
    #[must_use]
    pub fn differences(&self, expected: &Expectation) -> Vec<String> {
        let summary = self.summary();
        let mut differences = Vec::new();
        if let Some(kind) = &expected.verdict
            && kind != summary.kind()
        {
            differences.push(format!("expected {kind}, found {summary}"));
        }
        if let Some(names) = &expected.invariants {
            differences.extend(other_invariants(names, summary.invariants()));
        }
        if let Some(effects) = &expected.effects {
            differences.extend(self.other_effects(effects));
        }
        for (op, answers) in expected.answers.iter().flatten() {
            differences.extend(self.other_answer(op, answers));
        }
        if let Some(dead) = &expected.dead {
            differences.extend(self.other_dead(dead));
        }
        differences.extend(expected.unknown.and_then(|unknown| self.other_unknown(unknown)));
        for (name, value) in expected.metrics.iter().flatten() {
            differences.extend(self.other_metric(name, *value));
        }
        differences.extend(expected.signals.as_ref().and_then(|signals| self.other_signals(signals)));
        differences
    }

    fn names(&self, which: impl Fn(&Ruling) -> bool) -> Vec<&'static str> {
        let chosen = self.rulings.iter().filter(|judged| which(&judged.ruling));
        chosen.map(|judged| judged.name).collect()
    }

    /// Why the case did not test what it says, if so.
    fn untested(&self) -> Option<String> {
        let numbers: Vec<String> = self.idle_faults.iter().map(u32::to_string).collect();
        let is_silent = |judged: &Judged| judged.ruling == Ruling::Inconclusive;
        match numbers.as_slice() {
            [one] => Some(format!("fault {one} never struck")),
            [_, ..] => Some(format!("faults {} never struck", numbers.join(", "))),
            [] if !self.observed => Some("no effect and no answer was observed".to_owned()),
            [] if self.rulings.iter().all(is_silent) => Some("no promise was put to the test".to_owned()),
            [] => None,
        }
    }

    fn other_effects(&self, expected: &BTreeMap<String, u32>) -> Vec<String> {
        let ops: BTreeSet<&String> = expected.keys().chain(self.effects.keys()).collect();
        let count = |effects: &BTreeMap<String, u32>, op| effects.get(op).copied().unwrap_or(0);
        let mut differences = Vec::new();
        for op in ops {
            let (expected, found) = (count(expected, op), count(&self.effects, op));
            if expected != found {
                differences.push(format!("expected {op} to act {}, found {found}", times(expected)));
            }
        }
        differences
    }

    /// The first answer of an operation that is another.
    fn other_answer(&self, op: &str, expected: &[String]) -> Option<String> {
        let found = self.answers.get(op).map_or(&[][..], Vec::as_slice);
        let at = (0..expected.len().max(found.len())).find(|at| expected.get(*at) != found.get(*at))?;
        let or_nothing = |answers: &[String]| match answers.get(at) {
            Some(answer) => format!("\"{answer}\""),
            None => "nothing".to_owned(),
        };
        let (number, expected, found) = (at + 1, or_nothing(expected), or_nothing(found));
        Some(format!("expected answer {number} of {op} to be {expected}, found {found}"))
    }

    fn other_dead(&self, expected: &BTreeMap<String, String>) -> Vec<String> {
        let ops: BTreeSet<&String> = expected.keys().chain(self.dead.keys()).collect();
        let said = |why: Option<&String>| why.map_or("none".to_owned(), |why| format!("\"{why}\""));
        let mut differences = Vec::new();
        for op in ops {
            let (expected, found) = (expected.get(op), self.dead.get(op));
            if expected != found {
                let (expected, found) = (said(expected), said(found));
                differences
                    .push(format!("expected the dead letter of {op} to say {expected}, found {found}"));
            }
        }
        differences
    }

    /// The signals that are raised, in words.
    pub fn raised(&self) -> impl Iterator<Item = &Reading> {
        self.signals.iter().filter(|reading| reading.level == Level::Raised)
    }

    fn other_metric(&self, name: &str, expected: u64) -> Option<String> {
        let Some(metrics) = &self.metrics else {
            return Some(format!("expected {name} to be {expected}, and nobody counts"));
        };
        let found = metrics.get(name).copied().unwrap_or(0);
        (found != expected).then(|| format!("expected {name} to be {expected}, found {found}"))
    }

    fn other_signals(&self, expected: &[String]) -> Option<String> {
        let found: BTreeSet<&str> = self.raised().map(|reading| reading.signal.name()).collect();
        let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
        let list = |signals: &BTreeSet<&str>| match signals.is_empty() {
            true => "no signal".to_owned(),
            false => signals.iter().copied().collect::<Vec<_>>().join(", "),
        };
        (found != expected)
            .then(|| format!("expected {} to be raised, found {}", list(&expected), list(&found)))
    }

    fn other_unknown(&self, expected: u32) -> Option<String> {
        if usize::try_from(expected) == Ok(self.unknown.len()) {
            return None;
        }
        let keys: Vec<&str> = self.unknown.iter().map(|slot| slot.key.as_str()).collect();
        let found = if keys.is_empty() { String::new() } else { format!(": {}", keys.join(", ")) };
        Some(format!("expected {expected} unknown, found {}{found}", keys.len()))
    }
}

fn times(n: u32) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

fn other_invariants(expected: &[String], found: &[&'static str]) -> Vec<String> {
    let is_known = |name: &str| invariants::ALL.iter().any(|known| known.name == name);
    let mut differences = Vec::new();
    for name in expected.iter().filter(|name| !found.contains(&name.as_str())) {
        differences.push(match is_known(name) {
            true => format!("expected {name} among the invariants"),
            false => format!("expected {name}, which is no invariant"),
        });
    }
    for name in found.iter().filter(|name| !expected.iter().any(|known| known == *name)) {
        differences.push(format!("did not expect {name} among the invariants"));
    }
    differences
}

impl Summary {
    /// `kept`, `violated`, `waived` or `inconclusive`, as scenario files spell it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Kept { .. } => "kept",
            Self::Violated { .. } => "violated",
            Self::Waived { .. } => "waived",
            Self::Inconclusive { .. } => "inconclusive",
        }
    }

    /// The invariants that were violated or waived, as the verdict says.
    #[must_use]
    pub fn invariants(&self) -> &[&'static str] {
        match self {
            Self::Violated { invariants } | Self::Waived { invariants } => invariants,
            Self::Kept { .. } | Self::Inconclusive { .. } => &[],
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Self::Kept { unknown: 0 } => Ok(()),
            Self::Kept { unknown } => write!(f, " ?{unknown}"),
            Self::Violated { invariants } | Self::Waived { invariants } => {
                write!(f, " {}", invariants.join(", "))
            }
            Self::Inconclusive { why } => write!(f, " ({why})"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::{Build, DAY};

    fn sent() -> Build {
        Build::new().request("a", 1, "k1").effect("a", "m1").ok(1, "m1")
    }

    fn said(build: Build) -> String {
        judge(&build.history()).to_string()
    }

    fn twice(ms: u64) -> Build {
        sent().at(ms).request("a", 2, "k1").effect("a", "m2").ok(2, "m2")
    }

    #[test]
    fn a_kept_promise_shows_what_is_unknown() {
        assert_eq!(said(sent().end()), "kept");
        let unknown = sent().record("k2", State::Unknown, None).record("k3", State::Done, Some(500)).record(
            "k4",
            State::Done,
            Some(200),
        );
        assert_eq!(said(unknown.end()), "kept ?2");
    }

    #[test]
    fn broken_promises_are_named_in_order() {
        assert_eq!(said(twice(1).end()), "violated once, faithful-replay");
    }

    #[test]
    fn a_waived_breach_is_named() {
        assert_eq!(said(twice(40 * DAY).end()), "waived once, faithful-replay");
        let both = twice(40 * DAY).request("b", 3, "k2").ok(3, "m3");
        assert_eq!(said(both.end()), "violated honest-answer, no-loss");
    }

    #[test]
    fn what_a_delivery_came_to_stands_where_it_was_made() {
        let history = Build::new().delivery("a", 1).delivery("a", 2).acknowledged(2).no_response(1);
        let status = Event::Delivery {
            op: "b".into(),
            ops: Vec::new(),
            status: Some("read".into()),
            call: 3,
            attempt: 1,
            to: "gateway-1".into(),
            signed: true,
        };
        let history = history.event("whatsapp", status).acknowledged(3).redrive("a", 409).history();
        let answers = judge(&history).answers;
        assert_eq!(answers["a"], ["none timeout", "200", "redrive 409"]);
        assert_eq!(answers["b"], ["read 200"]);
    }

    #[test]
    fn a_case_that_did_not_test_what_it_says_is_inconclusive() {
        assert_eq!(said(sent().idle(&[2])), "inconclusive (fault 2 never struck)");
        assert_eq!(said(sent().idle(&[2, 3])), "inconclusive (faults 2, 3 never struck)");
        assert_eq!(said(twice(40 * DAY).idle(&[2])), "inconclusive (fault 2 never struck)");
        assert_eq!(said(twice(1).idle(&[2])), "violated once, faithful-replay");
        assert_eq!(said(Build::new()), "inconclusive (no effect and no answer was observed)");
        let abandoned = Build::new().request("a", 1, "k1").claim("k1", 1).fault(1, &["gateway-1"]);
        assert_eq!(said(abandoned.release("k1", 1).no_response(1).end()), "kept");
        let silent = Build::new().request("a", 1, "k1").status(1, 503);
        assert_eq!(said(silent), "inconclusive (no promise was put to the test)");
    }

    #[test]
    fn safety_outweighs_liveness() {
        let broken = |build: Build| judge(&build.end().history()).broken();
        assert_eq!(broken(sent()), None);
        let wedged = |build: Build| build.record("k9", State::Claimed, None);
        assert_eq!(broken(wedged(sent())), Some(Kind::Liveness));
        assert_eq!(broken(twice(1)), Some(Kind::Safety));
        assert_eq!(broken(wedged(twice(1))), Some(Kind::Safety));
        assert_eq!(broken(twice(40 * DAY)), None);
    }

    #[test]
    fn names_of_invariants_are_distinct_and_every_one_cites_a_rule() {
        let names: BTreeSet<&str> = invariants::ALL.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), invariants::ALL.len());
        assert!(invariants::ALL.iter().all(|known| !known.rules.is_empty()));
    }

    fn expectation(verdict: &str) -> Expectation {
        Expectation { verdict: Some(verdict.into()), ..Expectation::default() }
    }

    #[test]
    fn an_expectation_that_is_met_has_no_differences() {
        let verdict = judge(&twice(1).end().history());
        let expected = Expectation {
            effects: Some([("a".into(), 2), ("b".into(), 0)].into()),
            invariants: Some(vec!["faithful-replay".into(), "once".into()]),
            unknown: Some(0),
            ..expectation("violated")
        };
        assert_eq!(verdict.differences(&expected), Vec::<String>::new());
        assert_eq!(verdict.differences(&Expectation::default()), Vec::<String>::new());
    }

    #[test]
    fn every_difference_is_a_line() {
        let verdict = judge(&twice(1).record("k7", State::Unknown, None).end().history());
        let expected = Expectation {
            effects: Some([("b".into(), 1)].into()),
            invariants: Some(vec!["once".into(), "fenced".into(), "onec".into()]),
            unknown: Some(0),
            ..expectation("kept")
        };
        assert_eq!(
            verdict.differences(&expected),
            [
                "expected kept, found violated once, faithful-replay",
                "expected fenced among the invariants",
                "expected onec, which is no invariant",
                "did not expect faithful-replay among the invariants",
                "expected a to act 0 times, found 2",
                "expected b to act once, found 0",
                "expected 0 unknown, found 1: k7",
            ]
        );
    }

    #[test]
    fn dead_letters_are_compared_where_they_are_said() {
        let verdict = judge(&sent().dead_letter("b").dead_letter("c").end().history());
        let differences = |dead: Option<&[(&str, &str)]>| {
            let said = |(op, why): &(&str, &str)| ((*op).to_owned(), (*why).to_owned());
            let dead = dead.map(|dead| dead.iter().map(said).collect());
            verdict.differences(&Expectation { dead, ..Expectation::default() })
        };
        assert_eq!(differences(None), Vec::<String>::new());
        let why = verdict.dead["b"].as_str();
        assert_eq!(differences(Some(&[("b", why), ("c", why)])), Vec::<String>::new());
        assert_eq!(
            differences(Some(&[("a", "x"), ("b", "x")])),
            [
                "expected the dead letter of a to say \"x\", found none".to_owned(),
                format!("expected the dead letter of b to say \"x\", found \"{why}\""),
                format!("expected the dead letter of c to say none, found \"{why}\""),
            ]
        );
    }

    #[test]
    fn metrics_and_signals_are_compared_where_they_are_said() {
        let counted =
            |of: &str, value| Build::new().effect("a", "m1").effect("a", "m2").metrics(of, "x", value);
        let verdict = judge(&counted("gateway-1", 1).metrics("gateway-2", "x", 2).end().history());
        let differences = |metrics: &[(&str, u64)], signals: Option<&[&str]>| {
            let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value));
            let signals = signals.map(|signals| signals.iter().map(|name| (*name).to_owned()).collect());
            let expected =
                Expectation { metrics: Some(metrics.collect()), signals, ..Expectation::default() };
            verdict.differences(&expected)
        };
        assert_eq!(differences(&[("x", 3), ("y", 0)], Some(&["escaped-duplicates"])), Vec::<String>::new());
        assert_eq!(differences(&[("x", 3)], None), Vec::<String>::new());
        assert_eq!(
            differences(&[("x", 1), ("y", 1)], Some(&[])),
            [
                "expected x to be 1, found 3",
                "expected y to be 1, found 0",
                "expected no signal to be raised, found escaped-duplicates",
            ]
        );
        let expected = Expectation { metrics: Some([("x".into(), 0)].into()), ..Expectation::default() };
        let uncounted = judge(&sent().end().history());
        assert_eq!(uncounted.differences(&expected), ["expected x to be 0, and nobody counts"]);
    }

    /// Two calls that overlap, the second of which is answered first; then everything else that can be answered.
    fn answered() -> Verdict {
        let sent = Build::new().request("a", 1, "k1").request("a", 2, "k1").request("b", 3, "k2");
        let answered =
            sent.status(2, 504).resolve("a", "not-sent", 409).look_up("a", 200, "sent").ok(1, "m1");
        let again = answered.request("a", 4, "k1").replay(4, "m1").request("a", 5, "k1").no_response(5);
        judge(&again.request("a", 6, "k1").end().history())
    }

    #[test]
    fn answers_stand_in_the_order_of_calls() {
        let verdict = answered();
        let expected = [
            "200",
            "504 outcome-unknown",
            "resolve 409 too-early",
            "look-up 200 sent",
            "200 replay",
            "none timeout",
            "none pending",
        ];
        assert_eq!(verdict.answers["a"], expected);
        assert_eq!(verdict.answers["b"], ["none pending"]);
    }

    #[test]
    fn the_first_answer_that_differs_is_told_for_each_operation_that_is_named() {
        let verdict = answered();
        let differs = |op: &str, answers: &[&str]| {
            let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
            let answers = Some([(op.to_owned(), answers)].into());
            verdict.differences(&Expectation { answers, ..Expectation::default() })
        };
        assert_eq!(differs("b", &["none pending"]), Vec::<String>::new());
        assert_eq!(
            differs("b", &["200", "200"]),
            ["expected answer 1 of b to be \"200\", found \"none pending\""]
        );
        assert_eq!(
            differs("b", &["none pending", "200"]),
            ["expected answer 2 of b to be \"200\", found nothing"]
        );
        assert_eq!(differs("b", &[]), ["expected answer 1 of b to be nothing, found \"none pending\""]);
        assert_eq!(differs("c", &["200"]), ["expected answer 1 of c to be \"200\", found nothing"]);
    }

    #[test]
    fn the_number_of_unknown_messages_is_compared_where_it_is_said() {
        let verdict = judge(&sent().record("k7", State::Unknown, None).end().history());
        let found = |unknown| verdict.differences(&Expectation { unknown, ..expectation("kept") });
        assert_eq!(found(None), Vec::<String>::new());
        assert_eq!(found(Some(1)), Vec::<String>::new());
        assert_eq!(found(Some(0)), ["expected 0 unknown, found 1: k7"]);
    }
}
