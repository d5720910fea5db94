//! `no-wedge`: no key is held for ever.

use onceproof_gateway::store::State;

use crate::history::History;

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view;
use super::waiver::Losses;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "no-wedge",
    kind: Kind::Liveness,
    promise: "In the end no key is claimed or dispatching.",
    rules: &["S4", "S10"],
    judge,
};

fn judge(history: &History) -> Ruling {
    if !view::has_ended(history) || !view::shows_store(history) {
        return Ruling::Inconclusive;
    }
    let mut findings = Findings::default();
    findings.relevant();
    let (losses, wrong_clock) = (Losses::of(history), view::first_wrong_clock(history));
    for ((scope, key), record) in view::records(history) {
        let state = match record.state {
            State::Claimed => "claimed",
            State::Dispatching => "dispatching",
            State::Unknown | State::Done | State::Tombstone => continue,
        };
        // A clock that was ahead has written a lease that ends later. Until then it is held, not wedged.
        if wrong_clock.is_some() && record.overdue_ms.is_none() {
            continue;
        }
        let waiver = losses.waives((scope, key), record.index, record.index);
        let why = format!("key {key:?} of {scope} is still {state}");
        findings.breach(waiver, why, [record.index]);
    }
    findings.ruling()
}

#[cfg(test)]
mod tests {
    use super::super::waiver::LOST_COMMITS;
    use super::*;
    use crate::history::build::Build;

    fn ends(state: State) -> Ruling {
        let history = Build::new().claim("k1", 1).record("k1", state, None);
        judge(&history.end().history())
    }

    #[test]
    fn a_key_that_is_free_or_settled_or_unknown_is_kept() {
        for state in [State::Unknown, State::Done, State::Tombstone] {
            assert_eq!(ends(state), Ruling::Kept, "{state:?}");
        }
        let free = Build::new().claim("k1", 1).release("k1", 1).end();
        assert_eq!(judge(&free.history()), Ruling::Kept);
    }

    #[test]
    fn a_key_that_is_held_is_wedged() {
        for (state, word) in [(State::Claimed, "claimed"), (State::Dispatching, "dispatching")] {
            let ruling = ends(state);
            assert!(ruling.is_violated());
            assert_eq!(ruling.evidence(), [1]);
            assert!(ruling.why().ends_with(&format!("is still {word}")));
        }
    }

    #[test]
    fn a_lease_written_by_a_clock_that_was_ahead_is_waited_for() {
        let held = || {
            let claimed = Build::new().strikes(1, "clock", &["gateway-1"]).claim("k1", 1);
            claimed.record("k1", State::Claimed, None)
        };
        assert_eq!(judge(&held().end().history()), Ruling::Kept);
        assert!(judge(&held().overdue(1).end().history()).is_violated());
    }

    #[test]
    fn what_the_store_forgot_is_waived() {
        let lost = Build::new().claim("k1", 1).release("k1", 1).loses(1).record("k1", State::Claimed, None);
        let ruling = judge(&lost.end().history());
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS));
    }

    #[test]
    fn without_a_store_or_an_end_nothing_is_known() {
        let blind = Build::new().request("a", 1, "k1").end().history();
        assert_eq!(judge(&blind), Ruling::Inconclusive);
        let going = Build::new().record("k1", State::Claimed, None).history();
        assert_eq!(judge(&going), Ruling::Inconclusive);
    }
}
