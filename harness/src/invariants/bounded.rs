//! `bounded`: what is due is done. Expired records go, and who can be asked about is asked about.

use onceproof_gateway::store::State;

use crate::history::History;

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, BOUND_MS};

pub(super) const INVARIANT: Invariant = Invariant {
    name: "bounded",
    kind: Kind::Liveness,
    promise: "In the end no record is overdue by more than the hour between two sweeps: the expired are gone, and \
              the unknown were asked about.",
    rules: &["S5", "S11"],
    judge,
};

/// Between two sweeps (S5), and the liveness bound for the sweep itself.
const LIMIT_MS: u64 = 60 * 60 * 1000 + BOUND_MS;

fn judge(history: &History) -> Ruling {
    if !view::has_ended(history) || !view::shows_store(history) {
        return Ruling::Inconclusive;
    }
    let mut findings = Findings::default();
    findings.relevant();
    let end_ms = history.entries.last().map_or(0, |entry| entry.at_ms);
    // While something was broken, nobody could see to it.
    let calm_ms = end_ms.saturating_sub(view::disturbed_until_ms(history).unwrap_or(0));
    for ((scope, key), record) in view::records(history) {
        let overdue_ms = record.overdue_ms.unwrap_or(0);
        if overdue_ms.min(calm_ms) <= LIMIT_MS {
            continue;
        }
        let what = match record.state {
            State::Done | State::Tombstone => "to be swept",
            State::Unknown => "to be asked about",
            State::Claimed | State::Dispatching => "to be freed or settled",
        };
        let minutes = overdue_ms / 60_000;
        let why = format!("key {key:?} of {scope} was {what} {minutes} minutes before the end");
        findings.violate(why, [record.index]);
    }
    findings.ruling()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::{Build, DAY, HOUR};

    fn left(state: State, overdue_ms: u64) -> Ruling {
        let record = Build::new().at(2 * DAY).record("k1", state, None);
        judge(&record.overdue(overdue_ms).end().history())
    }

    #[test]
    fn what_is_not_due_or_not_long_is_kept() {
        let fresh = Build::new().at(DAY).record("k1", State::Done, Some(200)).end();
        assert_eq!(judge(&fresh.history()), Ruling::Kept);
        for state in [State::Done, State::Tombstone, State::Unknown] {
            assert_eq!(left(state, LIMIT_MS), Ruling::Kept, "{state:?}");
        }
    }

    #[test]
    fn what_is_long_overdue_is_a_breach() {
        for (state, word) in [
            (State::Done, "swept"),
            (State::Tombstone, "swept"),
            (State::Unknown, "asked about"),
            (State::Claimed, "freed"),
            (State::Dispatching, "freed"),
        ] {
            let ruling = left(state, LIMIT_MS + 1);
            assert!(ruling.is_violated() && ruling.why().contains(word), "{ruling:?}");
            assert_eq!(ruling.evidence(), [0]);
        }
    }

    #[test]
    fn the_time_while_something_was_broken_does_not_count() {
        let broken_until = |ms| {
            let broken = Build::new().fault(1, &["database"]).at(ms).fault_ends(1).at(3 * HOUR);
            judge(&broken.record("k1", State::Done, Some(200)).overdue(2 * HOUR).end().history())
        };
        assert_eq!(broken_until(3 * HOUR - LIMIT_MS), Ruling::Kept);
        assert!(broken_until(3 * HOUR - LIMIT_MS - 1).is_violated());
    }

    #[test]
    fn a_fault_that_never_ends_excuses_all() {
        let broken = Build::new().fault(1, &["database"]).at(DAY).record("k1", State::Done, None);
        assert_eq!(judge(&broken.overdue(DAY).end().history()), Ruling::Kept);
    }

    #[test]
    fn without_a_store_or_an_end_nothing_is_known() {
        let blind = Build::new().request("a", 1, "k1").end().history();
        assert_eq!(judge(&blind), Ruling::Inconclusive);
        let going = Build::new().at(DAY).record("k1", State::Done, None).overdue(DAY).history();
        assert_eq!(judge(&going), Ruling::Inconclusive);
    }
}
