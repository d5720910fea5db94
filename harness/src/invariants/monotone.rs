//! `monotone`: how far a message has come never goes back.

use std::collections::BTreeMap;

use crate::history::{Event, History};

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};

pub(super) const INVARIANT: Invariant = Invariant {
    name: "monotone",
    kind: Kind::Safety,
    promise: "Of a message, nobody is told less than was told before: sent, then failed or delivered, then read.",
    rules: &["W11"],
    judge,
};

/// In the order of the evidence: a delivery that is proved wins over a failure, whenever it comes.
const ORDER: [&str; 4] = ["sent", "failed", "delivered", "read"];

fn judge(history: &History) -> Ruling {
    let mut findings = Findings::default();
    let mut told: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (index, entry) in history.indexed() {
        let Event::LookUp { op, says: Some(says), .. } = &entry.event else {
            continue;
        };
        let Some(rank) = ORDER.iter().position(|status| status == says) else {
            continue;
        };
        let Some((before, place)) = told.insert(op, (rank, index)) else {
            continue;
        };
        findings.relevant();
        if rank < before {
            let why = format!("the message of {op:?} was {}, and then only {says}", ORDER[before]);
            findings.violate(why, [place, index]);
        }
    }
    findings.ruling()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::Build;

    fn told(says: &[&str]) -> Ruling {
        let history = says.iter().fold(Build::new(), |build, says| build.look_up("a", 200, says)).history();
        judge(&history)
    }

    #[test]
    fn what_goes_on_is_kept_also_where_a_step_is_left_out() {
        assert_eq!(told(&["sent", "delivered", "read"]), Ruling::Kept);
        assert_eq!(told(&["sent", "sent", "read"]), Ruling::Kept);
        assert_eq!(told(&["failed", "delivered"]), Ruling::Kept, "later evidence of delivery wins");
    }

    #[test]
    fn what_goes_back_is_a_breach() {
        for says in
            [["read", "delivered"], ["delivered", "failed"], ["delivered", "sent"], ["failed", "sent"]]
        {
            let ruling = told(&says);
            assert!(ruling.is_violated(), "{says:?}");
            assert_eq!(ruling.evidence(), [0, 1]);
        }
    }

    #[test]
    fn one_look_and_other_words_say_nothing() {
        assert_eq!(told(&["read"]), Ruling::Inconclusive);
        assert_eq!(told(&["read", "unknown"]), Ruling::Inconclusive);
        let two = Build::new().look_up("a", 200, "read").look_up("b", 200, "sent").history();
        assert_eq!(judge(&two), Ruling::Inconclusive);
    }
}
