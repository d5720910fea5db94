//! `honest-answer`: no success without an effect.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Event, History};

use super::events;
use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, Answer};
use super::waiver::Losses;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "honest-answer",
    kind: Kind::Safety,
    promise: "A success is told only of an operation that has acted, and names no other operation's message; an event \
              is acknowledged only once it is durable.",
    rules: &["S2", "S6", "S7", "W6"],
    judge,
};

fn judge(history: &History) -> Ruling {
    let losses = Losses::of(history);
    let mut findings = Findings::default();
    let mut acted: BTreeSet<&str> = BTreeSet::new();
    let mut messages: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut effects = history.indexed().peekable();
    for answer in view::answers(history) {
        while let Some((index, entry)) = effects.next_if(|(index, _)| *index < answer.index) {
            if let Event::Effect { op, message_id, .. } = &entry.event {
                acted.insert(op.as_str());
                messages.entry(message_id).or_default().insert(op, index);
            }
        }
        if !answer.is_success() {
            continue;
        }
        findings.relevant();
        let told = [answer.asked_at(), answer.index];
        let waiver = answer.slot().and_then(|slot| losses.waives(slot, answer.asked_at(), answer.index));
        let Answer { op, status, .. } = answer;
        let owners = answer.message_id.and_then(|id| messages.get(id));
        let foreign = owners.filter(|owners| !owners.contains_key(op));
        let foreign = foreign.and_then(|owners| owners.first_key_value());
        if let Some((owner, effect)) = foreign {
            let why = format!("operation {op:?} got {status} with the message of {owner:?}");
            findings.breach(waiver, why, told.into_iter().chain([*effect]));
        } else if !acted.contains(op) {
            let why = format!("operation {op:?} got {status} and had not acted");
            findings.breach(waiver, why, told);
        }
    }
    owned_too_late(history, &mut findings);
    findings.ruling()
}

/// Where the inbox is shown, an acknowledgement comes after the event is in it.
fn owned_too_late(history: &History, findings: &mut Findings) {
    let owned = events::first_owned(history);
    if owned.is_empty() {
        return;
    }
    for heard in events::heard(history).iter().filter(|heard| heard.is_acknowledged()) {
        findings.relevant();
        let is_owned = |op: &&String| owned.get(op.as_str()).is_some_and(|place| *place < heard.index);
        if let Some(op) = heard.delivery.ops.iter().find(|op| !is_owned(op)) {
            let why = format!("event {op:?} was acknowledged and was not in the inbox");
            let later = owned.get(op.as_str()).copied();
            findings.violate(why, [heard.delivery.index, heard.index].into_iter().chain(later));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiver::LOST_COMMITS;
    use super::*;
    use crate::history::build::Build;

    #[test]
    fn a_success_after_its_effect_is_kept() {
        let history = Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .ok(1, "m1")
            .request("a", 2, "k1")
            .replay(2, "m1")
            .history();
        assert_eq!(judge(&history), Ruling::Kept);
    }

    #[test]
    fn other_answers_promise_nothing() {
        let history = Build::new().request("a", 1, "k1").status(1, 504).history();
        assert_eq!(judge(&history), Ruling::Inconclusive);
    }

    #[test]
    fn a_success_without_an_effect_is_a_lie() {
        let history = Build::new().request("a", 1, "k1").ok(1, "m1").history();
        let ruling = judge(&history);
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [0, 1]);
    }

    #[test]
    fn after_lost_commits_it_is_waived() {
        let history = Build::new().request("a", 1, "k1").claim("k1", 1).loses(1).ok(1, "m1").history();
        assert!(matches!(judge(&history), Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS));
    }

    #[test]
    fn an_effect_that_comes_later_does_not_make_it_true() {
        let history = Build::new().request("a", 1, "k1").ok(1, "m1").effect("a", "m1").history();
        assert!(judge(&history).is_violated());
    }

    #[test]
    fn an_event_is_acknowledged_only_once_it_is_in_the_inbox() {
        let owned = Build::new().delivery("a", 1).received("a").acknowledged(1);
        assert_eq!(judge(&owned.history()), Ruling::Kept);
        let ruling = judge(&Build::new().delivery("a", 1).acknowledged(1).received("a").history());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [0, 1, 2]);
        let never = Build::new().received("b").delivery("a", 1).acknowledged(1).history();
        assert_eq!(judge(&never).evidence(), [1, 2]);
        let refused = Build::new().received("b").delivery("a", 1).delivery_answer(1, 503).history();
        assert_eq!(judge(&refused), Ruling::Inconclusive);
        let unseen = Build::new().delivery("a", 1).acknowledged(1).history();
        assert_eq!(judge(&unseen), Ruling::Inconclusive, "no inbox is shown");
    }

    #[test]
    fn the_effect_of_another_operation_does_not_count() {
        let history = Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .ok(1, "m1")
            .request("b", 2, "k1")
            .replay(2, "m1")
            .history();
        let ruling = judge(&history);
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [1, 3, 4]);
        assert!(ruling.why().contains("the message of \"a\""));
    }

    #[test]
    fn the_message_of_another_operation_is_a_lie_even_after_an_effect() {
        let history = Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .request("b", 2, "k2")
            .effect("b", "m2")
            .ok(2, "m1")
            .history();
        assert_eq!(judge(&history).evidence(), [1, 2, 4]);
    }
}
