//! `authentic`: whoever cannot sign makes nothing happen, and keeps nothing from happening.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Event, History};

use super::events::{self, Delivery};
use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "authentic",
    kind: Kind::Safety,
    promise: "A delivery that its provider did not sign, and a send without a good token, is not accepted, has no effect, \
              and suppresses nothing; and none that its provider did sign is refused for its signature.",
    rules: &["W2", "S1"],
    judge,
};

fn judge(history: &History) -> Ruling {
    let mut findings = Findings::default();
    acknowledged(history, &mut findings);
    turned_away(history, &mut findings);
    accepted(history, &mut findings);
    acted_upon(history, &mut findings);
    if view::has_ended(history) {
        suppressed(history, &mut findings);
    }
    findings.ruling()
}

/// Every delivery that is not the provider's puts the promise to the test.
fn acknowledged(history: &History, findings: &mut Findings) {
    if events::deliveries(history).values().any(|delivery| !delivery.signed) {
        findings.relevant();
    }
    for heard in events::heard(history) {
        if !heard.delivery.signed && heard.is_acknowledged() {
            let why = format!("a delivery of {:?} that was not signed was acknowledged", heard.delivery.op);
            findings.violate(why, [heard.delivery.index, heard.index]);
        }
    }
}

/// A delivery that was signed well, by whoever may.
fn turned_away(history: &History, findings: &mut Findings) {
    for heard in events::heard(history) {
        if heard.delivery.signed && heard.problem == Some("bad-signature") {
            let why = format!(
                "a delivery of {:?} that was signed well was refused for its signature",
                heard.delivery.op
            );
            findings.violate(why, [heard.delivery.index, heard.index]);
        }
    }
}

/// A send without a good token that is told of a success, its own or that of another.
fn accepted(history: &History, findings: &mut Findings) {
    let calls = view::calls(history);
    if calls.values().any(|call| !call.authorized) {
        findings.relevant();
    }
    for answer in view::answers(history) {
        if let Some(call) = answer.call.filter(|call| !call.authorized)
            && (200..300).contains(&answer.status)
        {
            let why =
                format!("a send of {:?} without a good token was answered {}", answer.op, answer.status);
            findings.violate(why, [call.index, answer.index]);
        }
    }
}

/// An effect of an operation for which nobody with a right to it had asked.
fn acted_upon(history: &History, findings: &mut Findings) {
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    let mut forged: Option<(usize, BTreeMap<&str, usize>)> = None;
    for (index, entry) in history.indexed() {
        match &entry.event {
            Event::Request { op, authorized: true, .. } => _ = asked.insert(op),
            Event::Request { op, .. } => {
                let (_, by_op) = forged.get_or_insert_with(|| (index, BTreeMap::new()));
                by_op.insert(op, index);
            }
            Event::Delivery { ops, signed: true, .. } => asked.extend(ops.iter().map(String::as_str)),
            Event::Delivery { ops, .. } => {
                let (_, by_op) = forged.get_or_insert_with(|| (index, BTreeMap::new()));
                ops.iter().for_each(|op| _ = by_op.insert(op, index));
            }
            Event::Effect { op, .. } if !asked.contains(op.as_str()) => {
                let Some((first, by_op)) = &forged else { continue };
                let delivered = by_op.get(op.as_str()).unwrap_or(first);
                let why = format!("operation {op:?} acted, and nobody with a right to it had asked for it");
                findings.violate(why, [*delivered, index]);
            }
            _ => {}
        }
    }
}

/// An event that came to nothing, after a delivery under its name that was not its provider's.
fn suppressed(history: &History, findings: &mut Findings) {
    let mut forged: BTreeMap<&str, Delivery<'_>> = BTreeMap::new();
    for delivery in events::deliveries(history).into_values().filter(|delivery| !delivery.signed) {
        for op in delivery.ops {
            forged.entry(op).or_insert(delivery);
        }
    }
    let accounted = events::accounted(history);
    for (op, heard) in events::acknowledged(history) {
        let before = forged.get(op).filter(|forged| forged.index < heard.delivery.index);
        if let (Some(forged), false) = (before, accounted.contains(op)) {
            let why = format!(
                "event {op:?} was acknowledged and never acted, after a delivery that was not signed"
            );
            findings.violate(why, [forged.index, heard.delivery.index, heard.index]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::Build;

    fn refused() -> Build {
        Build::new().unsigned("a", 1).delivery_answer(1, 400)
    }

    #[test]
    fn a_forgery_that_is_refused_and_changes_nothing_is_kept() {
        let true_one = refused().delivery("a", 2).acknowledged(2).effect("a", "m1").end();
        assert_eq!(judge(&true_one.history()), Ruling::Kept);
        assert_eq!(judge(&refused().end().history()), Ruling::Kept);
    }

    #[test]
    fn without_a_forgery_nothing_is_put_to_the_test() {
        let honest = Build::new().delivery("a", 1).acknowledged(1).effect("a", "m1").end();
        assert_eq!(judge(&honest.history()), Ruling::Inconclusive);
    }

    #[test]
    fn a_forgery_that_is_acknowledged_is_a_breach() {
        let ruling = judge(&Build::new().unsigned("a", 1).acknowledged(1).history());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [0, 1]);
    }

    #[test]
    fn an_effect_that_only_a_forgery_asked_for_is_a_breach() {
        let ruling = judge(&refused().effect("a", "m1").history());
        assert_eq!(ruling.evidence(), [0, 2]);
        let altered = refused().delivery("a", 2).effect("a-forged", "m1").history();
        assert_eq!(judge(&altered).evidence(), [0, 3], "also under another name, whatever came later");
        let sent = refused().request("b", 3, "k1").effect("b", "m1").history();
        assert_eq!(judge(&sent), Ruling::Kept, "a producer asked");
    }

    #[test]
    fn a_good_signature_is_not_refused() {
        let refused = |build: Build| build.delivery_answer(1, 400).history();
        assert_eq!(judge(&refused(Build::new().delivery("a", 1))).evidence(), [0, 1]);
        assert_eq!(judge(&refused(Build::new().unsigned("a", 1))), Ruling::Kept);
    }

    #[test]
    fn a_send_without_a_good_token_is_refused_and_does_nothing() {
        let asked = || Build::new().request("a", 1, "k1").unauthorized();
        assert_eq!(judge(&asked().status(1, 401).history()), Ruling::Kept);
        assert_eq!(
            judge(&asked().status(1, 401).request("a", 2, "k1").effect("a", "m1").history()),
            Ruling::Kept
        );
        assert_eq!(judge(&asked().ok(1, "m1").history()).evidence(), [0, 1]);
        assert_eq!(judge(&asked().effect("a", "m1").status(1, 500).history()).evidence(), [0, 1]);
    }

    #[test]
    fn an_event_that_a_forgery_suppressed_is_a_breach() {
        let silent = || refused().delivery("a", 2).acknowledged(2);
        let ruling = judge(&silent().end().history());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [0, 2, 3]);
        assert_eq!(judge(&silent().history()), Ruling::Kept, "it may still act");
        assert_eq!(judge(&silent().dead_letter("a").end().history()), Ruling::Kept);
        let later = Build::new().delivery("a", 2).acknowledged(2).unsigned("a", 1).delivery_answer(1, 400);
        assert_eq!(judge(&later.end().history()), Ruling::Kept, "what comes later suppresses nothing");
    }
}
