//! The part of `fenced` about rows that wait for a worker: a lease that another has taken since is worth nothing (W7).

use std::collections::BTreeMap;

use crate::history::{Event, History};

use super::findings::Findings;
use super::waiver::Losses;

/// A row of one store, as the history names it.
type Row<'a> = (&'a str, &'a str, i64);

/// Judges what workers wrote about rows.
pub(super) fn judge(history: &History, losses: &Losses<'_>, findings: &mut Findings) {
    let mut leased: BTreeMap<Row<'_>, (i64, usize)> = BTreeMap::new();
    for (index, entry) in history.indexed() {
        let Event::Job { store, queue, id, what, token: Some(token), .. } = &entry.event else {
            continue;
        };
        let row = (store.as_str(), queue.as_str(), *id);
        if what == "leased" {
            findings.relevant();
            leased.insert(row, (*token, index));
        } else if let (Some((current, since)), false) = (leased.get(&row), what.ends_with("(fenced)")) {
            findings.relevant();
            if current != token {
                let waiver = losses.waives_between(store, *since, index);
                let why = format!("{queue} {id} was {what} by a worker whose lease another had taken since");
                findings.breach(waiver, why, [*since, index]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::invariant::Ruling;
    use super::*;
    use crate::history::build::Build;

    fn ruling(build: Build) -> Ruling {
        let history = build.history();
        let mut findings = Findings::default();
        judge(&history, &Losses::of(&history), &mut findings);
        findings.ruling()
    }

    fn taken_over() -> Build {
        Build::new().job("a", "leased", 1).job("a", "leased", 2)
    }

    #[test]
    fn whoever_holds_the_lease_may_finish() {
        assert_eq!(ruling(Build::new().job("a", "leased", 1).job("a", "completed", 1)), Ruling::Kept);
        assert_eq!(ruling(taken_over().job("a", "completed", 2)), Ruling::Kept);
        assert_eq!(ruling(Build::new()), Ruling::Inconclusive);
    }

    #[test]
    fn whoever_lost_it_is_turned_away() {
        assert_eq!(ruling(taken_over().job("a", "completed (fenced)", 1)), Ruling::Kept);
        for what in ["completed", "heartbeat", "retried", "buried"] {
            let stale = ruling(taken_over().job("a", what, 1));
            assert!(stale.is_violated(), "{what}");
            assert_eq!(stale.evidence(), [1, 2]);
        }
    }

    #[test]
    fn a_row_of_the_other_queue_is_another_row() {
        let other =
            Build::new().job("a", "leased", 1).outbox("a", "leased", 2, "k1").job("a", "completed", 1);
        assert_eq!(ruling(other), Ruling::Kept);
    }
}
