//! `scope`: nothing crosses tenants or routes.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Event, History};

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, Answer, Slot};

pub(super) const INVARIANT: Invariant = Invariant {
    name: "scope",
    kind: Kind::Safety,
    promise: "A key that is new to its tenant and route is never answered as if it were known.",
    rules: &["S1", "S9"],
    judge,
};

/// The requests that were sent so far.
#[derive(Default)]
struct Sent<'a> {
    by_slot: BTreeMap<Slot<'a>, u32>,
    /// By key: the first request in each scope.
    scopes: BTreeMap<&'a str, BTreeMap<&'a str, usize>>,
}

fn judge(history: &History) -> Ruling {
    let mut findings = Findings::default();
    let mut sent = Sent::default();
    let mut answers = view::answers(history).into_iter().peekable();
    let shared = shared_keys(history);
    for (index, entry) in history.indexed() {
        if let Event::Request { scope, key: Some(key), .. } = &entry.event {
            *sent.by_slot.entry((scope, key)).or_default() += 1;
            sent.scopes.entry(key).or_default().entry(scope).or_insert(index);
        }
        let Some(answer) = answers.next_if(|answer| answer.index == index) else { continue };
        let Some((scope, key)) = answer.slot() else { continue };
        if shared.contains(key) {
            findings.relevant();
        }
        // A request that was sent later may have been faster: only who was alone until its answer met nothing.
        let was_alone = sent.by_slot.get(&(scope, key)).copied() == Some(1);
        if let (true, Some(what)) = (was_alone, is_known(&answer)) {
            let elsewhere = sent.scopes.get(key).into_iter().flatten().find(|(other, _)| **other != scope);
            let whence = elsewhere.map_or(String::new(), |(other, _)| format!("; {other} knows it"));
            let why = format!("key {key:?} was new to {scope} and got {what}{whence}");
            let places = [answer.asked_at(), answer.index].into_iter();
            findings.violate(why, places.chain(elsewhere.map(|(_, index)| *index)));
        }
    }
    findings.ruling()
}

/// The keys that are used in more than one scope: those that put the promise to the test.
fn shared_keys(history: &History) -> BTreeSet<&str> {
    let mut scopes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in &history.entries {
        if let Event::Request { scope, key: Some(key), .. } = &entry.event {
            scopes.entry(key).or_default().insert(scope);
        }
    }
    scopes.into_iter().filter_map(|(key, scopes)| (scopes.len() > 1).then_some(key)).collect()
}

/// What an answer says that only a known key can get.
fn is_known(answer: &Answer<'_>) -> Option<String> {
    match answer.status {
        status if answer.replay => Some(format!("{status} marked as a replay")),
        status @ (409 | 410 | 422) => Some(status.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::{Build, SCOPE};

    const OTHER: &str = "loja-2/messages/text";

    /// `a` has succeeded under the key; `b` bears the same in another scope.
    fn two() -> Build {
        let first = Build::new().request("a", 1, "k1").effect("a", "m1").ok(1, "m1");
        first.request("b", 2, "k1").in_scope(OTHER)
    }

    #[test]
    fn the_same_key_of_two_tenants_is_two_keys() {
        assert_eq!(judge(&two().effect("b", "m2").ok(2, "m2").history()), Ruling::Kept);
    }

    #[test]
    fn what_crosses_is_a_breach_and_is_named() {
        for status in [409, 410, 422] {
            let ruling = judge(&two().status(2, status).history());
            assert!(ruling.is_violated(), "{status}");
            assert_eq!(ruling.evidence(), [0, 3, 4]);
            assert!(ruling.why().ends_with(&format!("; {SCOPE} knows it")), "{}", ruling.why());
        }
        assert!(judge(&two().replay(2, "m1").history()).is_violated());
    }

    #[test]
    fn a_new_key_that_is_called_known_is_a_breach_wherever_that_comes_from() {
        let alone = Build::new().request("a", 1, "k1").status(1, 409).history();
        assert_eq!(judge(&alone).evidence(), [0, 1]);
    }

    #[test]
    fn other_answers_tell_of_no_key() {
        for status in [400, 401, 404, 429, 503, 504] {
            assert_eq!(judge(&two().status(2, status).history()), Ruling::Kept, "{status}");
        }
    }

    #[test]
    fn a_repetition_in_its_own_scope_may_be_known_also_where_the_later_one_was_faster() {
        let again = two().request("b", 3, "k1").in_scope(OTHER);
        assert_eq!(judge(&again.status(2, 409).history()), Ruling::Kept);
        let later = two().status(2, 503).request("b", 3, "k1").in_scope(OTHER);
        assert_eq!(judge(&later.status(3, 422).history()), Ruling::Kept);
    }

    #[test]
    fn a_key_in_one_scope_says_nothing() {
        let one = Build::new().request("a", 1, "k1").ok(1, "m1").request("b", 2, "k2").ok(2, "m2");
        assert_eq!(judge(&one.history()), Ruling::Inconclusive);
    }
}
