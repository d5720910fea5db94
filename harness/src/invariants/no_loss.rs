//! `no-loss`: what was acknowledged has acted at the end, or is visibly unknown.

use std::collections::{BTreeMap, BTreeSet};

use onceproof_gateway::store::State;

use crate::history::{Event, History};

use super::events::{self, Heard};
use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, Slot};
use super::waiver::Losses;
use crate::sim::cast::DATABASE;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "no-loss",
    kind: Kind::Liveness,
    promise: "Every operation that was acknowledged has its effect in the end, or is visibly unknown; so has every \
              event, or it is a dead letter.",
    rules: &["S7", "S10", "S11", "W1", "W4", "W8"],
    judge,
};

fn judge(history: &History) -> Ruling {
    if !view::has_ended(history) {
        return Ruling::Inconclusive;
    }
    let mut findings = Findings::default();
    let acted = history.effects();
    let (unknown, losses) = (visibly_unknown(history), Losses::of(history));
    let mut acknowledged: BTreeSet<&str> = BTreeSet::new();
    for answer in view::answers(history) {
        if !answer.is_success() || !acknowledged.insert(answer.op) {
            continue;
        }
        findings.relevant();
        if !acted.contains_key(answer.op) && !unknown.contains(answer.op) {
            let why =
                format!("operation {:?} was acknowledged with {} and never acted", answer.op, answer.status);
            let lost = |slot| losses.waives(slot, answer.index, history.entries.len());
            findings.breach(answer.slot().and_then(lost), why, [answer.asked_at(), answer.index]);
        }
    }
    events_lost(history, &losses, &mut findings);
    findings.ruling()
}

/// Whoever acknowledges an event owns it: its sender forgets it.
fn events_lost(history: &History, losses: &Losses<'_>, findings: &mut Findings) {
    let accounted = events::accounted(history);
    let mut silent = BTreeMap::new();
    for (op, heard) in events::acknowledged(history) {
        findings.relevant();
        if !accounted.contains(op) {
            silent.entry(heard.index).or_insert_with(|| (heard, Vec::new())).1.push(op);
        }
    }
    for (heard, ops) in silent.into_values() {
        let Heard { delivery, index, .. } = heard;
        let why = format!("acknowledged, and then neither an effect nor a dead letter: {}", ops.join(", "));
        // How many commits were lost is not known: any that was made before may be among them.
        let waiver = losses.waives_between(DATABASE, delivery.index, history.entries.len());
        findings.breach(waiver, why, [delivery.index, index]);
    }
}

/// The operations with a request whose key ends `unknown`.
fn visibly_unknown(history: &History) -> BTreeSet<&str> {
    let records = view::records(history);
    let unknown = |slot: &Slot<'_>| records.get(slot).is_some_and(|r| r.state == State::Unknown);
    let mut ops: BTreeMap<&str, bool> = BTreeMap::new();
    for entry in &history.entries {
        if let Event::Request { op, scope, key: Some(key), .. } = &entry.event {
            *ops.entry(op).or_default() |= unknown(&(scope, key));
        }
    }
    ops.into_iter().filter_map(|(op, unknown)| unknown.then_some(op)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::waiver::LOST_COMMITS;
    use super::*;
    use crate::history::build::Build;

    fn acknowledged() -> Build {
        Build::new().request("a", 1, "k1").ok(1, "m1")
    }

    #[test]
    fn what_was_acknowledged_and_acted_is_kept() {
        let history = acknowledged().effect("a", "m1").end().history();
        assert_eq!(judge(&history), Ruling::Kept, "also where it acts later");
    }

    #[test]
    fn what_was_acknowledged_and_never_acted_is_lost() {
        let ruling = judge(&acknowledged().effect("b", "m1").end().history());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [0, 1]);
        assert!(ruling.why().contains("\"a\""));
    }

    #[test]
    fn what_the_store_forgot_is_waived() {
        let history = Build::new().request("a", 1, "k1").claim("k1", 1).ok(1, "m1").loses(1).end().history();
        assert!(matches!(judge(&history), Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS));
    }

    #[test]
    fn a_record_that_is_visibly_unknown_is_not_lost() {
        let with = |key, state| acknowledged().record(key, state, None).end().history();
        assert_eq!(judge(&with("k1", State::Unknown)), Ruling::Kept);
        assert!(judge(&with("k1", State::Done)).is_violated());
        assert!(judge(&with("k2", State::Unknown)).is_violated());
    }

    #[test]
    fn each_key_of_an_operation_may_be_the_unknown_one() {
        let with_two = acknowledged().request("a", 2, "k2");
        let first = with_two.record("k1", State::Unknown, None).end();
        assert_eq!(judge(&first.history()), Ruling::Kept);
    }

    #[test]
    fn an_event_that_was_acknowledged_acts_or_is_a_dead_letter_or_is_unknown() {
        let owned = || Build::new().delivers("lote", &["a", "b"], 1, true).acknowledged(1).effect("a", "m1");
        let ruling = judge(&owned().end().history());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [0, 1]);
        assert!(ruling.why().ends_with(": b"), "{}", ruling.why());
        assert_eq!(judge(&owned().effect("b", "m2").end().history()), Ruling::Kept);
        assert_eq!(judge(&owned().dead_letter("b").end().history()), Ruling::Kept);
        let sent = || owned().outbox("b", "leased", 1, "k1");
        assert_eq!(judge(&sent().record("k1", State::Unknown, None).end().history()), Ruling::Kept);
        assert!(judge(&sent().record("k1", State::Done, None).end().history()).is_violated());
        let sent = owned().worker_send("b", "k1").record("k1", State::Unknown, None);
        assert_eq!(judge(&sent.end().history()), Ruling::Kept);
    }

    #[test]
    fn an_event_that_nobody_acknowledged_or_signed_is_nobodys() {
        let refused = Build::new().delivery("a", 1).delivery_answer(1, 503).end();
        assert_eq!(judge(&refused.history()), Ruling::Inconclusive);
        let forged = Build::new().unsigned("a", 1).acknowledged(1).end();
        assert_eq!(judge(&forged.history()), Ruling::Inconclusive);
    }

    #[test]
    fn an_event_that_the_store_forgot_is_waived() {
        let forgotten = Build::new().delivery("a", 1).received("a").acknowledged(1).loses(1).end();
        assert!(
            matches!(judge(&forgotten.history()), Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS)
        );
    }

    #[test]
    fn nothing_acknowledged_says_nothing_and_neither_does_a_run_that_goes_on() {
        let refused = Build::new().request("a", 1, "k1").status(1, 503).end();
        assert_eq!(judge(&refused.history()), Ruling::Inconclusive);
        assert_eq!(judge(&acknowledged().history()), Ruling::Inconclusive);
    }
}
