//! `stable-key`: one downstream reference per claim, over all its asks.

use std::collections::BTreeMap;

use crate::history::{Event, History};

use super::attribution::Attribution;
use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::Slot;
use super::waiver::Losses;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "stable-key",
    kind: Kind::Safety,
    promise: "Every ask that a claim makes bears the reference of its mark, as its key too; no two claims share one.",
    rules: &["S10", "S11"],
    judge,
};

/// Whose a reference is: where it was first marked.
#[derive(Clone, Copy)]
struct Mark<'a> {
    index: usize,
    slot: Slot<'a>,
}

/// A claim that may ask.
#[derive(Clone, Copy)]
struct Open<'a> {
    reference: &'a str,
    mark: usize,
    /// Whether it was written down that it asks, by the mark or the beginning of a re-ask, and no ask has come since.
    /// Nobody's ask, such as that of a gateway which sends without a store, is none of this claim.
    asks: bool,
}

struct Fold<'a> {
    losses: Losses<'a>,
    findings: Findings,
    attribution: Attribution<'a>,
    by_reference: BTreeMap<&'a str, Mark<'a>>,
    /// By key and store: the claim that stands there since its mark.
    open: BTreeMap<Slot<'a>, BTreeMap<&'a str, Open<'a>>>,
}

fn judge(history: &History) -> Ruling {
    let mut fold = Fold {
        losses: Losses::of(history),
        findings: Findings::default(),
        attribution: Attribution::default(),
        by_reference: BTreeMap::new(),
        open: BTreeMap::new(),
    };
    for (index, entry) in history.indexed() {
        fold.attribution.observe(index, &entry.event);
        match &entry.event {
            Event::Store { store, command, scope, key, reply, reference, .. } => {
                let slot = (scope.as_str(), key.as_str());
                match (command.as_str(), reply.as_str(), reference) {
                    ("mark", "applied", Some(reference)) => fold.mark(index, store, slot, reference),
                    ("begin-ask", "ask", _) => {
                        if let Some(claim) =
                            fold.open.get_mut(&slot).and_then(|of| of.get_mut(store.as_str()))
                        {
                            claim.asks = true;
                        }
                    }
                    ("claim", "claimed", _)
                    | ("release" | "release-asked", "applied", _)
                    | ("sweep", "released" | "forgotten", _) => {
                        _ = fold.open.entry(slot).or_default().remove(store.as_str())
                    }
                    _ => {}
                }
            }
            Event::ProviderAnswer { op, reference, key, .. } => {
                fold.ask(index, op, reference.as_deref(), key.as_deref());
            }
            Event::Effect { op, reference, .. } => fold.ask(index, op, reference.as_deref(), None),
            _ => {}
        }
    }
    fold.findings.ruling()
}

impl<'a> Fold<'a> {
    fn mark(&mut self, index: usize, store: &'a str, slot: Slot<'a>, reference: &'a str) {
        let (_, key) = slot;
        let claim = Open { reference, mark: index, asks: true };
        let standing = self.open.entry(slot).or_default().insert(store, claim);
        if let Some(Open { reference: other, mark: earlier, .. }) = standing {
            // A mark whose COMMIT was ambiguous may be made again, as it was.
            if other != reference {
                let why =
                    format!("the claim of key {key:?} bears two references, {other:?} and {reference:?}");
                self.breach(slot, why, earlier, index);
            }
        } else if let Some(first) = self.by_reference.get(reference).copied() {
            let why =
                format!("reference {reference:?} is of two claims, of {:?} and of {key:?}", first.slot.1);
            self.breach(slot, why, first.index, index);
        }
        self.by_reference.entry(reference).or_insert(Mark { index, slot });
    }

    /// A request at the provider for this operation.
    fn ask(&mut self, index: usize, op: &str, reference: Option<&str>, key: Option<&str>) {
        if let (Some(reference), Some(key)) = (reference, key)
            && reference != key
        {
            let why = format!("operation {op:?} was asked for with reference {reference:?} and key {key:?}");
            self.findings.violate(why, [index]);
        }
        let sources = self.attribution.sources(op, None);
        let borne = reference.or(key);
        // A late request of an earlier claim bears that one's reference, and is no ask of this claim.
        if let Some(mark) = borne.and_then(|borne| self.by_reference.get(borne)).copied() {
            self.findings.relevant();
            let is_own = sources.keys.iter().any(|(slot, _)| *slot == mark.slot);
            if !is_own && !sources.keys.is_empty() {
                let why =
                    format!("operation {op:?} was asked for with the reference of key {:?}", mark.slot.1);
                self.breach(mark.slot, why, mark.index, index);
            }
            for claim in self.open.entry(mark.slot).or_default().values_mut() {
                claim.asks &= borne != Some(claim.reference);
            }
            return;
        }
        let Some((slot, _)) = sources.only() else { return };
        let standing = self.open.get_mut(&slot).and_then(|of| of.values_mut().find(|claim| claim.asks));
        if let Some(claim) = standing {
            claim.asks = false;
            let Open { reference: expected, mark, .. } = *claim;
            let found = borne.map_or("none".to_owned(), |borne| format!("{borne:?}"));
            let why =
                format!("operation {op:?} was asked for with reference {found} instead of {expected:?}");
            self.breach(slot, why, mark, index);
        }
    }

    fn breach(&mut self, slot: Slot<'a>, why: String, earlier: usize, index: usize) {
        let waiver = self.losses.waives(slot, earlier, index);
        self.findings.breach(waiver, why, [earlier, index]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiver::LOST_COMMITS;
    use super::*;
    use crate::history::build::Build;

    fn verdict(build: Build) -> Ruling {
        judge(&build.history())
    }

    #[track_caller]
    fn assert_bad(build: Build, evidence: &[usize]) {
        let ruling = verdict(build);
        assert!(ruling.is_violated(), "{ruling:?}");
        assert_eq!(ruling.evidence(), evidence, "{}", ruling.why());
    }

    fn marked() -> Build {
        Build::new().request("a", 1, "k1").claim("k1", 1).mark("k1", 1, "r1")
    }

    #[test]
    fn every_ask_with_the_same_reference_and_key_is_kept() {
        let asked = marked().effect_ref("a", "m1", "r1").asked("a", Some("r1"), Some("r1"));
        let again = asked.unknown("k1", 1).begin_ask("k1", 2, "r1").asked("a", Some("r1"), Some("r1"));
        assert_eq!(verdict(again), Ruling::Kept);
    }

    #[test]
    fn without_an_ask_nothing_is_known() {
        assert_eq!(verdict(marked()), Ruling::Inconclusive);
        let keyless = marked().keyless("b", 2).effect("b", "m1");
        assert_eq!(verdict(keyless), Ruling::Inconclusive);
    }

    #[test]
    fn an_ask_with_another_reference_or_none_is_a_breach() {
        assert_bad(marked().asked("a", Some("r9"), None), &[2, 3]);
        assert_bad(marked().asked("a", None, None), &[2, 3]);
        assert_bad(marked().effect_ref("a", "m1", "r9"), &[2, 3]);
    }

    #[test]
    fn an_ask_that_no_claim_makes_is_none_of_its_asks() {
        let asked = || marked().asked("a", Some("r1"), None);
        assert_eq!(verdict(asked().effect_ref("a", "m2", "r9")), Ruling::Kept, "sent without a store");
        assert_bad(asked().begin_ask("k1", 2, "r1").asked("a", Some("r9"), None), &[2, 5]);
    }

    #[test]
    fn a_key_that_is_not_the_reference_is_a_breach() {
        assert_bad(marked().asked("a", Some("r1"), Some("k9")), &[3]);
        assert_bad(marked().asked("a", None, Some("k9")), &[2, 3]);
        assert_eq!(verdict(marked().asked("a", None, Some("r1"))), Ruling::Kept);
    }

    #[test]
    fn a_new_claim_has_a_new_reference_and_late_requests_of_the_old_one_are_its_own() {
        let second = || marked().release("k1", 1).claim("k1", 2).mark("k1", 2, "r2");
        let late = second().asked("a", Some("r1"), None).asked("a", Some("r2"), None);
        assert_eq!(verdict(late), Ruling::Kept);
        assert_bad(marked().release("k1", 1).claim("k1", 2).mark("k1", 2, "r1"), &[2, 5]);
        let other = Build::new().claim("k1", 1).mark("k1", 1, "r1").claim("k2", 2).mark("k2", 2, "r1");
        assert_bad(other, &[1, 3]);
    }

    #[test]
    fn a_mark_may_be_made_again_as_it_was_and_not_otherwise() {
        let again = marked().fence("k1", 2).mark("k1", 2, "r1").asked("a", Some("r1"), None);
        assert_eq!(verdict(again), Ruling::Kept);
        assert_bad(marked().fence("k1", 2).mark("k1", 2, "r2"), &[2, 4]);
    }

    #[test]
    fn the_reference_of_another_operations_claim_is_a_breach() {
        let two = marked().request("b", 2, "k2").claim("k2", 2).mark("k2", 2, "r2");
        assert_bad(two.asked("b", Some("r1"), None), &[2, 6]);
    }

    #[test]
    fn outside_of_a_claim_nothing_is_promised() {
        for (command, reply) in [("release", "applied"), ("sweep", "released"), ("sweep", "forgotten")] {
            let closed = marked().store(command, "k1", Some(1), None, reply, None, None);
            assert_eq!(verdict(closed.asked("a", Some("r9"), None)), Ruling::Inconclusive, "{command}");
        }
    }

    #[test]
    fn two_memories_are_two_claims() {
        let two = marked().in_store("gateway-1/1").claim("k1", 1).in_store("gateway-2/1");
        let two = two.mark("k1", 1, "r2").in_store("gateway-2/1");
        assert_eq!(verdict(two.asked("a", Some("r1"), None).asked("a", Some("r2"), None)), Ruling::Kept);
    }

    #[test]
    fn after_lost_commits_it_is_waived() {
        let ruling = verdict(marked().loses(1).mark("k1", 1, "r2"));
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS), "{ruling:?}");
    }
}
