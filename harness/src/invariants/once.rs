//! `once`: at most one effect per logical operation, and at most one per scope and key.

use std::collections::BTreeMap;

use crate::history::{Event, History};

use super::attribution::{Attribution, Sources};
use super::events::{self, Heard};
use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::Slot;
use super::waiver::{Horizon, Losses, NO_KEY, PAST_HORIZON};
use crate::sim::cast::DATABASE;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "once",
    kind: Kind::Safety,
    promise: "An operation acts at most once, and so do a key and an event.",
    rules: &["S2", "S5", "S10", "S12", "W1", "W7", "W8"],
    judge,
};

/// An effect and the requests that it may come from.
struct Act<'a> {
    index: usize,
    sources: Sources<'a>,
}

struct Fold<'a> {
    history: &'a History,
    /// Where each event was delivered first.
    events: BTreeMap<&'a str, usize>,
    /// When each was durably known at the latest.
    known: BTreeMap<&'a str, Heard<'a>>,
    /// Where a store made each its own.
    owned: BTreeMap<&'a str, usize>,
    horizon: Horizon<'a>,
    losses: Losses<'a>,
    findings: Findings,
    by_key: BTreeMap<Slot<'a>, usize>,
    by_op: BTreeMap<&'a str, Act<'a>>,
}

fn judge(history: &History) -> Ruling {
    let mut attribution = Attribution::default();
    let mut fold = Fold {
        history,
        events: events::first_delivered(history),
        known: events::acknowledged(history),
        owned: events::first_owned(history),
        horizon: Horizon::of(history),
        losses: Losses::of(history),
        findings: Findings::default(),
        by_key: BTreeMap::new(),
        by_op: BTreeMap::new(),
    };
    for (index, entry) in history.indexed() {
        attribution.observe(index, &entry.event);
        if let Event::Effect { op, reference, .. } = &entry.event {
            let sources = attribution.sources(op, reference.as_deref());
            fold.findings.relevant();
            fold.effect(op, Act { index, sources });
        }
    }
    fold.findings.ruling()
}

impl<'a> Fold<'a> {
    fn effect(&mut self, op: &'a str, act: Act<'a>) {
        let key = act.sources.only();
        let by_key = key.and_then(|(slot, _)| self.by_key.insert(slot, act.index));
        match (key, by_key, self.by_op.get(op)) {
            (Some(key), Some(earlier), _) => self.key_acted_again(key, earlier, act.index),
            (_, _, Some(earlier)) if self.events.contains_key(op) => {
                let lost = || self.event_lost(op, earlier.index, act.index);
                let waiver = self.event_horizon(op, act.index).or_else(lost);
                let why = format!("event {op:?} acted again, though it was known already");
                let places = [self.events.get(op).copied(), Some(earlier.index), Some(act.index)];
                self.findings.breach(waiver, why, places.into_iter().flatten());
            }
            (_, _, Some(earlier)) => operation_acted_again(op, earlier, &act, &mut self.findings),
            _ => {}
        }
        self.by_op.insert(op, act);
    }

    /// The id of an event is known for so long from its receipt, which was acknowledged after that (W1).
    fn event_horizon(&self, op: &str, place: usize) -> Option<&'static str> {
        let known = self.known.get(op).filter(|known| known.index < place)?;
        let at_ms = self.history.entries.get(place).map_or(0, |entry| entry.at_ms);
        let age_ms = at_ms.saturating_sub(known.at_ms);
        (age_ms > self.history.header.promise.event_ms).then_some(PAST_HORIZON)
    }

    /// What a store had of an event may be among the commits that it lost between two effects.
    fn event_lost(&self, op: &str, earlier: usize, later: usize) -> Option<&'static str> {
        let owned = self.owned.get(op)?;
        self.losses.waives_between(DATABASE, earlier.max(*owned), later)
    }

    /// The gateway let a key act again.
    fn key_acted_again(&mut self, key: (Slot<'a>, usize), earlier: usize, index: usize) {
        let ((scope, name), request) = key;
        // An effect that was never settled has no horizon, whatever was settled before it.
        let settled = self.horizon.settled((scope, name), index);
        let settled = settled.filter(|settled| *settled > earlier);
        let lost = || self.losses.waives((scope, name), earlier, index);
        let waiver = self.horizon.waives(settled, index).or_else(lost);
        let why =
            format!("key {name:?} of {scope} acted again: the gateway let one key through more than once");
        self.findings.breach(waiver, why, [request, earlier, index]);
    }
}

/// No key is known to have acted twice, but the operation did.
fn operation_acted_again(op: &str, earlier: &Act<'_>, act: &Act<'_>, findings: &mut Findings) {
    let places = [earlier.index, act.index].into_iter();
    if let Some(request) = act.sources.keyless.or(earlier.sources.keyless) {
        let why = format!("operation {op:?} acted again after a request that carried no key");
        return findings.waive(NO_KEY, why, places.chain([request]));
    }
    let keys = all_keys(earlier, act);
    let why = if keys.is_empty() {
        format!("operation {op:?} acted again, and no request of it is in the history")
    } else {
        let names = names(&keys);
        format!(
            "operation {op:?} acted again under another key ({names}): look at the producer, which changed its key"
        )
    };
    findings.violate(why, places.chain(keys.into_iter().map(|(_, request)| request)));
}

/// The keys of both effects, in the order of their use.
fn all_keys<'a>(earlier: &Act<'a>, act: &Act<'a>) -> Vec<(Slot<'a>, usize)> {
    let mut keys = [earlier.sources.keys.as_slice(), act.sources.keys.as_slice()].concat();
    keys.sort_unstable_by_key(|(_, request)| *request);
    keys.dedup();
    keys
}

fn names(keys: &[(Slot<'_>, usize)]) -> String {
    let quoted: Vec<String> = keys.iter().map(|((_, key), _)| format!("{key:?}")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::waiver::{LOST_COMMITS, PAST_HORIZON};
    use super::*;
    use crate::history::build::{Build, DAY};

    #[test]
    fn one_effect_is_kept_and_none_says_nothing() {
        let quiet = Build::new().request("a", 1, "k1").no_response(1);
        assert_eq!(judge(&quiet.history()), Ruling::Inconclusive);
        let one = Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .no_response(1)
            .request("a", 2, "k1")
            .replay(2, "m1")
            .request("b", 3, "k2")
            .effect("b", "m2");
        assert_eq!(judge(&one.history()), Ruling::Kept);
    }

    #[test]
    fn a_key_that_acts_again_points_at_the_gateway() {
        let history = Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .no_response(1)
            .request("a", 2, "k1")
            .effect("a", "m2")
            .history();
        let ruling = judge(&history);
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [0, 1, 4]);
        assert!(ruling.why().contains("\"k1\"") && ruling.why().contains("the gateway"));
    }

    #[test]
    fn two_operations_under_one_key_are_a_breach_of_the_key() {
        let history = Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .request("b", 2, "k1")
            .effect("b", "m2")
            .history();
        let ruling = judge(&history);
        assert!(ruling.is_violated() && ruling.why().contains("the gateway"));
        assert_eq!(ruling.evidence(), [1, 2, 3]);
    }

    #[test]
    fn a_new_key_per_attempt_points_at_the_producer() {
        let history = Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .no_response(1)
            .request("a", 2, "k2")
            .effect("a", "m2")
            .history();
        let ruling = judge(&history);
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [0, 1, 3, 4]);
        assert!(ruling.why().contains("look at the producer"));
        assert!(ruling.why().contains("(\"k1\", \"k2\")"));
    }

    #[test]
    fn marks_tell_a_gateway_that_acts_twice_from_a_producer_that_changes_keys() {
        let tale = |second: &str| {
            Build::new()
                .request("a", 1, "k1")
                .request("a", 2, "k2")
                .mark("k1", 1, "r1")
                .effect_ref("a", "m1", "r1")
                .mark(second, 2, "r2")
                .effect_ref("a", "m2", "r2")
                .history()
        };
        assert!(judge(&tale("k1")).why().contains("the gateway"));
        assert_eq!(judge(&tale("k1")).evidence(), [0, 3, 5]);
        assert!(judge(&tale("k2")).why().contains("the producer"));
        assert_eq!(judge(&tale("k2")).evidence(), [0, 1, 3, 5]);
    }

    #[test]
    fn without_a_key_it_is_waived() {
        let history =
            Build::new().keyless("a", 1).effect("a", "m1").keyless("a", 2).effect("a", "m2").history();
        let why = "operation \"a\" acted again after a request that carried no key".into();
        let (waiver, evidence) = (NO_KEY, vec![0, 1, 3]);
        assert_eq!(judge(&history), Ruling::Waived { waiver, why, evidence });
    }

    #[test]
    fn a_request_without_a_key_excuses_no_key_that_is_known_to_act_twice() {
        let history = Build::new()
            .keyless("a", 1)
            .request("a", 2, "k1")
            .mark("k1", 1, "r1")
            .effect_ref("a", "m1", "r1")
            .mark("k1", 2, "r2")
            .effect_ref("a", "m2", "r2")
            .history();
        assert!(judge(&history).is_violated());
    }

    fn again_at(ms: u64) -> Build {
        Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .done("k1", "r1")
            .ok(1, "m1")
            .at(ms)
            .request("a", 2, "k1")
            .effect("a", "m2")
    }

    #[test]
    fn an_operation_without_requests_acts_at_most_once_too() {
        let history = Build::new().effect("a", "m1").effect("a", "m2").history();
        let ruling = judge(&history);
        assert!(ruling.is_violated() && ruling.why().contains("no request"));
        assert_eq!(ruling.evidence(), [0, 1]);
    }

    #[test]
    fn past_the_horizon_it_is_waived_and_before_it_is_not() {
        assert!(judge(&again_at(30 * DAY).history()).is_violated());
        let ruling = judge(&again_at(32 * DAY).history());
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == PAST_HORIZON), "{ruling:?}");
        assert_eq!(ruling.evidence(), [0, 1, 5]);
    }

    #[test]
    fn after_a_waived_effect_the_promise_binds_anew() {
        let third = again_at(32 * DAY).at(33 * DAY).effect("a", "m3");
        assert!(judge(&third.history()).is_violated());
    }

    #[test]
    fn what_acts_again_after_its_record_was_lost_is_waived_and_binds_anew() {
        let acted = Build::new().request("a", 1, "k1").claim("k1", 1).mark("k1", 1, "r1").effect("a", "m1");
        let again = || acted.loses(1).claim("k1", 1).mark("k1", 1, "r2").effect("a", "m2");
        let history = again().history();
        assert!(matches!(judge(&history), Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS));
        assert_eq!(judge(&history).evidence(), [0, 3, 7]);
    }

    #[test]
    fn a_loss_before_the_first_effect_or_of_another_key_excuses_nothing() {
        let later = Build::new().request("a", 1, "k1").loses(1).claim("k1", 1).mark("k1", 1, "r1");
        assert!(judge(&later.effect("a", "m1").effect("a", "m2").history()).is_violated());
        let third = Build::new().request("a", 1, "k1").claim("k1", 1).effect("a", "m1").loses(1);
        let third = third.claim("k1", 1).effect("a", "m2").effect("a", "m3");
        assert!(judge(&third.history()).is_violated());
        let other = Build::new().claim("k2", 1).loses(1).request("a", 1, "k1").effect("a", "m1");
        assert!(judge(&other.effect("a", "m2").history()).is_violated());
    }

    #[test]
    fn a_wrong_clock_excuses_nothing() {
        let wrong = Build::new().request("a", 1, "k1").effect("a", "m1").done("k1", "r1");
        let wrong = wrong.strikes(1, "clock", &["gateway-1"]).at(31 * DAY - 60_000).effect("a", "m2");
        assert!(judge(&wrong.history()).is_violated());
    }

    fn event_again_at(ms: u64) -> History {
        let first = Build::new().delivery("a", 1).acknowledged(1).effect("a", "m1");
        first.at(ms).delivery("a", 2).acknowledged(2).effect("a", "m2").history()
    }

    #[test]
    fn an_event_that_acts_again_is_a_breach_for_thirty_days() {
        let ruling = judge(&event_again_at(30 * DAY));
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [0, 2, 5]);
        assert!(ruling.why().contains("event \"a\""));
        let ruling = judge(&event_again_at(30 * DAY + 1));
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == PAST_HORIZON));
    }

    #[test]
    fn an_event_that_the_store_forgot_may_act_again() {
        let acted = || Build::new().delivery("a", 1).effect("a", "m1");
        let again = |build: Build| judge(&build.effect("a", "m2").history());
        let forgotten = again(acted().received("a").loses(1));
        assert!(matches!(forgotten, Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS));
        assert!(again(acted().loses(1)).is_violated(), "it was never in the store");
        assert!(again(acted().loses(1).received("a")).is_violated(), "it came after the loss");
        assert!(again(Build::new().delivery("a", 1).received("a").loses(1).effect("a", "m1")).is_violated());
    }

    #[test]
    fn an_event_whose_key_acts_again_is_bound_by_the_key() {
        let sent = Build::new().delivery("a", 1).acknowledged(1).outbox("a", "leased", 1, "k1");
        let again = sent.effect("a", "m1").done("k1", "r1").at(31 * DAY).effect("a", "m2").history();
        assert!(judge(&again).why().contains("key \"k1\""), "{:?}", judge(&again));
    }

    #[test]
    fn an_effect_without_a_durable_answer_has_no_horizon() {
        let history =
            Build::new().request("a", 1, "k1").effect("a", "m1").at(40 * DAY).effect("a", "m2").history();
        assert!(judge(&history).is_violated());
    }

    #[test]
    fn a_new_key_is_not_excused_by_the_horizon_of_the_old_one() {
        let history = Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .done("k1", "r1")
            .at(40 * DAY)
            .request("a", 2, "k2")
            .effect("a", "m2")
            .history();
        assert!(judge(&history).is_violated());
    }
}
