//! `mismatch`: other content under a key is refused without effect; equal content never is.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Event, History};

use super::attribution::Attribution;
use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, Answer, Call, Slot};
use super::waiver::{Horizon, Losses};

pub(super) const INVARIANT: Invariant = Invariant {
    name: "mismatch",
    kind: Kind::Safety,
    promise: "A key that has acted for one content refuses every other without effect, and never calls equal content other.",
    rules: &["S3", "S8"],
    judge,
};

struct Fold<'a> {
    horizon: Horizon<'a>,
    losses: Losses<'a>,
    findings: Findings,
    attribution: Attribution<'a>,
    /// By key: the requests of each content so far.
    sent: BTreeMap<Slot<'a>, BTreeMap<&'a str, Call<'a>>>,
    /// By key: the content that it acted for or acknowledged, with the place.
    taken: BTreeMap<Slot<'a>, (&'a str, usize)>,
    repeated: BTreeSet<Slot<'a>>,
}

fn judge(history: &History) -> Ruling {
    let mut fold = Fold {
        horizon: Horizon::of(history),
        losses: Losses::of(history),
        findings: Findings::default(),
        attribution: Attribution::default(),
        sent: BTreeMap::new(),
        taken: BTreeMap::new(),
        repeated: BTreeSet::new(),
    };
    let calls = view::calls(history);
    let mut answers = view::answers(history).into_iter().peekable();
    for (index, entry) in history.indexed() {
        fold.attribution.observe(index, &entry.event);
        match &entry.event {
            Event::Request { call, .. } => {
                if let Some(call) = calls.get(call).filter(|call| call.index == index) {
                    fold.request(*call);
                }
            }
            Event::Effect { op, reference, .. } => fold.effect(index, op, reference.as_deref()),
            Event::Response { .. } => {
                if let Some(answer) = answers.next() {
                    fold.answer(&answer);
                }
            }
            _ => {}
        }
    }
    fold.findings.ruling()
}

impl<'a> Fold<'a> {
    fn request(&mut self, call: Call<'a>) {
        let Some(slot) = call.slot() else { return };
        let contents = self.sent.entry(slot).or_default();
        if !contents.is_empty() {
            self.repeated.insert(slot);
        }
        contents.entry(call.content).or_insert(call);
    }

    fn answer(&mut self, answer: &Answer<'a>) {
        let (Some(call), Some(slot)) = (answer.call, answer.slot()) else {
            return;
        };
        if self.repeated.contains(&slot) {
            self.findings.relevant();
        }
        let sent = self.sent.get(&slot);
        let others = sent.is_some_and(|contents| contents.keys().any(|c| *c != call.content));
        if answer.status == 422 && !others {
            let why = format!("key {:?} of {} got 422, though no other content had used it", slot.1, slot.0);
            let first = sent.and_then(|contents| contents.get(call.content));
            let places = [call.index, answer.index];
            let waiver = self.losses.waives(slot, call.index, answer.index);
            self.findings.breach(waiver, why, places.into_iter().chain(first.map(|c| c.index)));
        }
        // A server error other than 503 is no refusal: it says that something may have been done.
        let unrefused = answer.status >= 500 && answer.status != 503;
        let taken_before = self.taken.get(&slot).is_some_and(|(_, at)| *at < call.index);
        if answer.is_success() || (unrefused && taken_before) {
            self.takes(slot, &call, answer.index, call.index);
        }
    }

    /// An effect counts where it is certain which key and which content it belongs to.
    fn effect(&mut self, index: usize, op: &str, reference: Option<&str>) {
        let Some((slot, request)) = self.attribution.sources(op, reference).only() else {
            return;
        };
        let contents = self.sent.get(&slot).into_iter().flat_map(BTreeMap::values);
        let call = contents.copied().find(|call| call.index == request);
        if let Some(call) = call {
            self.takes(slot, &call, index, index);
        }
    }

    /// The key acted for this content, or acknowledged it; the horizon is judged at `asked`.
    fn takes(&mut self, slot: Slot<'a>, call: &Call<'a>, index: usize, asked: usize) {
        let before = self.taken.get(&slot).copied();
        let Some((_, earlier)) = before.filter(|(content, _)| *content != call.content) else {
            self.taken.entry(slot).or_insert((call.content, index));
            return;
        };
        let settled = self.horizon.settled(slot, asked);
        let lost = || self.losses.waives(slot, earlier, index);
        let waiver = self.horizon.waives(settled, asked).or_else(lost);
        let why =
            format!("key {:?} of {} had been used by one content and did not refuse another", slot.1, slot.0);
        self.findings.breach(waiver, why, [earlier, call.index, index]);
        self.taken.insert(slot, (call.content, index));
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiver::{LOST_COMMITS, PAST_HORIZON};
    use super::*;
    use crate::history::build::{Build, DAY};

    /// `a` succeeded under `k1`; then `b` comes with the same key.
    fn other_content_at(ms: u64) -> Build {
        Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .done("k1", "r1")
            .ok(1, "m1")
            .at(ms)
            .request("b", 2, "k1")
    }

    #[test]
    fn other_content_that_is_refused_is_kept() {
        for status in [422, 409, 503] {
            let history = other_content_at(1).status(2, status).history();
            assert_eq!(judge(&history), Ruling::Kept, "{status}");
        }
    }

    #[test]
    fn a_key_that_is_used_once_says_nothing() {
        let history = Build::new().request("a", 1, "k1").effect("a", "m1").ok(1, "m1").history();
        assert_eq!(judge(&history), Ruling::Inconclusive);
    }

    #[test]
    fn other_content_that_acts_is_a_breach() {
        let history = other_content_at(1).effect("b", "m2").status(2, 504);
        let ruling = judge(&history.history());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [1, 4, 5]);
    }

    #[test]
    fn other_content_that_gets_the_answer_of_the_first_is_a_breach() {
        let ruling = judge(&other_content_at(1).replay(2, "m1").history());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [1, 4, 5]);
    }

    #[test]
    fn an_unknown_outcome_is_no_refusal() {
        for status in [500, 504] {
            let ruling = judge(&other_content_at(1).status(2, status).history());
            assert!(ruling.is_violated(), "{status}");
        }
    }

    #[test]
    fn a_key_that_was_freed_may_be_used_by_corrected_content() {
        let history = Build::new()
            .request("a", 1, "k1")
            .status(1, 404)
            .request("b", 2, "k1")
            .effect("b", "m1")
            .ok(2, "m1")
            .history();
        assert_eq!(judge(&history), Ruling::Kept);
    }

    #[test]
    fn past_the_horizon_other_content_is_waived() {
        let acted = |ms| {
            let history = other_content_at(ms).effect("b", "m2").done("k1", "r2");
            judge(&history.ok(2, "m2").history())
        };
        assert!(acted(30 * DAY).is_violated());
        let ruling = acted(32 * DAY);
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == PAST_HORIZON), "{ruling:?}");
    }

    #[test]
    fn after_lost_commits_other_content_is_waived() {
        let ruling = judge(&other_content_at(1).loses(1).effect("b", "m2").history());
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS), "{ruling:?}");
    }

    #[test]
    fn an_effect_under_a_key_of_its_own_is_no_breach() {
        let history = Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .request("b", 2, "k1")
            .status(2, 422)
            .request("b", 3, "k2")
            .effect("b", "m2")
            .ok(3, "m2")
            .history();
        assert_eq!(judge(&history), Ruling::Kept);
    }

    #[test]
    fn equal_content_never_gets_422() {
        let history = Build::new()
            .request("a", 1, "k1")
            .ok(1, "m1")
            .request("a", 2, "k1")
            .status(2, 422)
            .request("b", 3, "k1")
            .history();
        let ruling = judge(&history);
        assert!(ruling.is_violated(), "other content that comes later is no excuse");
        assert_eq!(ruling.evidence(), [0, 2, 3]);
    }

    #[test]
    fn the_422_may_strike_the_first_where_the_second_was_faster() {
        let history = Build::new()
            .request("a", 1, "k1")
            .request("b", 2, "k1")
            .effect("b", "m1")
            .status(1, 422)
            .ok(2, "m1")
            .history();
        assert_eq!(judge(&history), Ruling::Kept);
    }

    #[test]
    fn two_keys_have_nothing_to_do_with_each_other() {
        let history = Build::new()
            .send("a", 1, Some("k1"), "x")
            .ok(1, "m1")
            .send("a", 2, Some("k2"), "y")
            .ok(2, "m2")
            .history();
        assert_eq!(judge(&history), Ruling::Inconclusive);
    }
}
