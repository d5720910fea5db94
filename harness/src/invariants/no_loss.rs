//! `no-loss`: what was acknowledged has acted at the end, or is visibly unknown.

use std::collections::{BTreeMap, BTreeSet};

use onceproof_gateway::store::State;

use crate::history::{Event, History};

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, Slot};
use super::waiver::Losses;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "no-loss",
    kind: Kind::Liveness,
    promise: "Every operation that was acknowledged has its effect in the end, or is visibly unknown.",
    rules: &["S7", "S10", "S11"],
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
    findings.ruling()
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
    fn nothing_acknowledged_says_nothing_and_neither_does_a_run_that_goes_on() {
        let refused = Build::new().request("a", 1, "k1").status(1, 503).end();
        assert_eq!(judge(&refused.history()), Ruling::Inconclusive);
        assert_eq!(judge(&acknowledged().history()), Ruling::Inconclusive);
    }
}
