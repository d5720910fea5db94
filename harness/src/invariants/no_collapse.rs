//! `no-collapse`: two operations never become one.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Event, History};

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, Slot};

pub(super) const INVARIANT: Invariant = Invariant {
    name: "no-collapse",
    kind: Kind::Safety,
    promise: "Two operations never become one: none is told the success of another's message as its own, and no two orders \
              bear one key.",
    rules: &["S2", "S3", "S9", "S12"],
    judge,
};

/// Who acted, over the whole history: an effect that comes late is an effect of its own.
#[derive(Default)]
struct Acted<'a> {
    ops: BTreeSet<&'a str>,
    /// By message: the operations that it is the effect of, each with the place.
    messages: BTreeMap<&'a str, BTreeMap<&'a str, usize>>,
    requested: BTreeSet<&'a str>,
}

fn judge(history: &History) -> Ruling {
    let acted = acted(history);
    let mut findings = Findings::default();
    let mut told: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for answer in view::answers(history).into_iter().filter(view::Answer::is_success) {
        if acted.requested.len() > 1 {
            findings.relevant();
        }
        let owners = answer.message_id.and_then(|id| acted.messages.get(id));
        let owner = match owners {
            Some(owners) if owners.contains_key(answer.op) => None,
            Some(owners) => owners.first_key_value().map(|(op, effect)| (*op, *effect)),
            // No effect tells whose success this is. It is another's, word for word, if this one never acted.
            None if acted.ops.contains(answer.op) => None,
            None => told.get(answer.digest).copied().filter(|(op, _)| *op != answer.op),
        };
        if let Some((owner, shown)) = owner {
            let why = format!("operation {:?} was told the success of {owner:?} as its own", answer.op);
            findings.violate(why, [shown, answer.asked_at(), answer.index]);
        }
        told.entry(answer.digest).or_insert((answer.op, answer.index));
    }
    orders_of_one_key(history, &mut findings);
    findings.ruling()
}

/// A producer that gives two orders one key takes them for one, whatever the gateway makes of it.
fn orders_of_one_key(history: &History, findings: &mut Findings) {
    let ordered = view::ordered(history);
    if ordered.len() < 2 {
        return;
    }
    let mut first_of: BTreeMap<Slot<'_>, (&str, usize)> = BTreeMap::new();
    let mut told = BTreeSet::new();
    for (index, entry) in history.indexed() {
        let Event::Request { op, scope, key: Some(key), .. } = &entry.event else { continue };
        if !ordered.contains_key(op.as_str()) {
            continue;
        }
        findings.relevant();
        let (first, place) = *first_of.entry((scope, key)).or_insert((op, index));
        if first != op && told.insert(op) {
            let why = format!("the orders {first:?} and {op:?} bear one key, {key:?}: look at the producer");
            findings.violate(why, [place, index]);
        }
    }
}

fn acted(history: &History) -> Acted<'_> {
    let mut acted = Acted::default();
    for (index, entry) in history.indexed() {
        match &entry.event {
            Event::Request { op, .. } => _ = acted.requested.insert(op),
            Event::Effect { op, message_id, .. } => {
                acted.ops.insert(op);
                acted.messages.entry(message_id).or_default().entry(op).or_insert(index);
            }
            _ => {}
        }
    }
    acted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::Build;

    /// `a` has succeeded; `b` was sent under a key of its own.
    fn two() -> Build {
        let first = Build::new().request("a", 1, "k1").effect("a", "m1").ok(1, "m1");
        first.request("b", 2, "k2")
    }

    #[test]
    fn each_its_own_message_is_kept() {
        assert_eq!(judge(&two().effect("b", "m2").ok(2, "m2").history()), Ruling::Kept);
    }

    #[test]
    fn one_operation_alone_cannot_collapse() {
        let alone = Build::new().request("a", 1, "k1").effect("a", "m1").ok(1, "m1");
        assert_eq!(judge(&alone.request("a", 2, "k1").replay(2, "m1").history()), Ruling::Inconclusive);
    }

    #[test]
    fn the_message_of_another_is_a_breach_whether_or_not_it_acted() {
        let ruling = judge(&two().replay(2, "m1").history());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [1, 3, 4]);
        let acted = judge(&two().effect("b", "m2").ok(2, "m1").history());
        assert_eq!(acted.evidence(), [1, 3, 5]);
        assert!(acted.why().contains("\"b\" was told the success of \"a\""));
    }

    #[test]
    fn without_a_message_the_same_words_are_a_breach_for_who_never_acted() {
        let first = || Build::new().request("a", 1, "k1").effect("a", "m1").response(1, 200, false, None);
        let second = || first().request("b", 2, "k2").response(2, 200, false, None);
        assert_eq!(judge(&second().history()).evidence(), [2, 3, 4]);
        assert_eq!(judge(&second().effect("b", "m2").history()), Ruling::Kept, "it acts, if late");
    }

    #[test]
    fn a_message_that_nobody_sent_is_a_lie_and_no_collapse() {
        assert_eq!(judge(&two().ok(2, "m9").history()), Ruling::Kept);
    }

    #[test]
    fn a_message_that_is_the_effect_of_both_is_its_own() {
        assert_eq!(judge(&two().effect("b", "m1").ok(2, "m1").history()), Ruling::Kept);
    }

    #[test]
    fn two_orders_under_one_key_are_a_breach_of_the_producer() {
        let taken = || Build::new().ordered("a").ordered("b").request("a", 1, "k1");
        let ruling = judge(&taken().request("b", 2, "k1").status(2, 422).request("b", 3, "k1").history());
        assert!(ruling.is_violated() && ruling.why().contains("look at the producer"));
        assert_eq!(ruling.evidence(), [2, 3]);
        assert_eq!(judge(&taken().request("b", 2, "k2").history()), Ruling::Kept);
        let other = taken().request("b", 2, "k1").in_scope("loja-2/messages/text");
        assert_eq!(judge(&other.history()), Ruling::Kept, "keys are scoped");
        let raw = Build::new().ordered("a").request("a", 1, "k1").request("b", 2, "k1").status(2, 422);
        assert!(!judge(&raw.history()).is_violated(), "who only sends may try what is refused");
    }

    #[test]
    fn other_answers_tell_of_no_success() {
        assert_eq!(judge(&two().response(2, 410, false, Some("m1")).history()), Ruling::Kept);
    }
}
