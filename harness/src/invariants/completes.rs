//! `completes`: without faults, or with a provider that takes a key, everything ends definite.

use std::collections::BTreeMap;

use onceproof_gateway::store::State;

use crate::history::{Ability, Event, History};

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, Answer, Call, Final, Slot};
use super::waiver::NO_KEY;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "completes",
    kind: Kind::Liveness,
    promise: "Without faults, or healed with a provider that takes our key, every operation ends definite.",
    rules: &["S6", "S11"],
    judge,
};

/// What an operation came to.
#[derive(Default)]
struct Outcome<'a> {
    request: Option<Call<'a>>,
    answer: Option<Answer<'a>>,
}

fn judge(history: &History) -> Ruling {
    let disturbed = history.entries.iter().any(|entry| disturbs(&entry.event));
    let binds = !disturbed || history.header.ability == Ability::Keyed;
    if !binds || !view::has_ended(history) {
        return Ruling::Inconclusive;
    }
    let mut findings = Findings::default();
    let records = view::records(history);
    // Undisturbed, nothing is left without a record because it was lost: whoever sends nothing completes nothing.
    let absent_is_definite = disturbed && view::shows_store(history);
    for (op, outcome) in outcomes(history) {
        let Some(request) = outcome.request else {
            continue;
        };
        findings.relevant();
        let record = request.slot().map(|slot: Slot<'_>| records.get(&slot));
        if is_definite(&outcome, record, absent_is_definite) {
            continue;
        }
        let found = record.flatten();
        let why = format!("operation {op:?} is still pending: {}", pending(&outcome, found));
        let waiver = request.key.is_none().then_some(NO_KEY);
        let answer = outcome.answer.map(|answer| answer.index);
        let places = [Some(request.index), answer, found.map(|record| record.index)];
        findings.breach(waiver, why, places.into_iter().flatten());
    }
    findings.ruling()
}

fn disturbs(event: &Event) -> bool {
    matches!(event, Event::Fault { .. } | Event::ProviderAnswer { scripted: true, .. })
}

/// By operation: its last request and the last answer that its producer received.
fn outcomes(history: &History) -> BTreeMap<&str, Outcome<'_>> {
    let mut outcomes: BTreeMap<&str, Outcome<'_>> = BTreeMap::new();
    let calls = view::calls(history);
    for entry in &history.entries {
        if let Event::Request { op, call, .. } = &entry.event {
            outcomes.entry(op).or_default().request = calls.get(call).copied();
        }
    }
    for answer in view::answers(history) {
        outcomes.entry(answer.op).or_default().answer = Some(answer);
    }
    outcomes
}

/// `record` is none for a request without a key, and holds none for a key without a record.
fn is_definite(outcome: &Outcome<'_>, record: Option<Option<&Final>>, absent_is_definite: bool) -> bool {
    let answered = outcome.answer.is_some_and(|answer| view::is_definite(answer.status));
    answered
        || match record {
            None => false,
            Some(None) => absent_is_definite,
            Some(Some(record)) => record.is_definite(),
        }
}

/// What is pending, for people.
fn pending(outcome: &Outcome<'_>, record: Option<&Final>) -> String {
    let answer = match &outcome.answer {
        Some(answer) => format!("its last answer is {}", answer.status),
        None => "it has no answer".to_owned(),
    };
    match record {
        None => answer,
        Some(Final { state: State::Done, status, .. }) => {
            format!("{answer}, its record keeps {}", status.unwrap_or_default())
        }
        Some(record) => format!("{answer}, its record is {:?}", record.state).to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::Build;

    fn verdict(build: Build) -> Ruling {
        judge(&build.end().history())
    }

    fn answered(status: u16) -> Build {
        Build::new().request("a", 1, "k1").status(1, status)
    }

    fn struck() -> Build {
        let sent = Build::new().keyed().request("a", 1, "k1");
        sent.fault(1, &["whatsapp"])
    }

    #[test]
    fn a_definite_answer_completes() {
        for status in [200, 400, 404, 422] {
            assert_eq!(verdict(answered(status)), Ruling::Kept, "{status}");
        }
    }

    #[test]
    fn other_answers_and_none_do_not() {
        for status in [408, 409, 429, 500, 503, 504] {
            let ruling = verdict(answered(status));
            assert!(ruling.is_violated(), "{status}");
            assert_eq!(ruling.evidence(), [0, 1]);
        }
        let ruling = verdict(Build::new().request("a", 1, "k1").no_response(1));
        assert!(ruling.is_violated());
        assert_eq!(ruling.why(), "operation \"a\" is still pending: it has no answer");
    }

    #[test]
    fn the_last_answer_counts_and_every_operation_counts() {
        let later = answered(504).request("a", 2, "k1").replay(2, "m1");
        assert_eq!(verdict(later), Ruling::Kept);
        let other = answered(200).request("b", 2, "k2").status(2, 504);
        assert!(verdict(other).why().contains("\"b\""));
    }

    #[test]
    fn a_record_that_ended_definite_completes() {
        let ends = |state, status| verdict(answered(409).record("k1", state, status));
        assert_eq!(ends(State::Done, Some(200)), Ruling::Kept);
        assert_eq!(ends(State::Done, Some(400)), Ruling::Kept);
        assert_eq!(ends(State::Tombstone, None), Ruling::Kept);
        assert!(ends(State::Done, Some(500)).why().ends_with("its record keeps 500"));
        assert!(ends(State::Unknown, None).why().ends_with("its record is unknown"));
        assert!(ends(State::Claimed, None).is_violated());
        assert!(ends(State::Dispatching, None).is_violated());
        assert_eq!(ends(State::Unknown, None).evidence(), [0, 1, 2]);
    }

    #[test]
    fn whoever_sends_nothing_completes_nothing() {
        let idle = answered(503).record("other", State::Done, Some(200));
        assert!(verdict(idle).is_violated());
    }

    #[test]
    fn after_a_fault_a_key_without_a_record_is_definite_where_the_store_is_shown() {
        let shown = struck().record("other", State::Done, Some(200));
        assert_eq!(verdict(shown), Ruling::Kept);
        assert!(verdict(struck()).is_violated());
        assert!(verdict(struck().record("k1", State::Unknown, None)).is_violated());
    }

    #[test]
    fn with_an_opaque_provider_faults_and_scripted_answers_excuse() {
        let sent = || Build::new().request("a", 1, "k1");
        let faulty = sent().fault(1, &["whatsapp"]);
        assert_eq!(verdict(faulty), Ruling::Inconclusive);
        let scripted = sent().scripted("a", "r1", 500);
        assert_eq!(verdict(scripted), Ruling::Inconclusive);
        assert!(verdict(sent().keyed().scripted("a", "r1", 500)).is_violated());
    }

    #[test]
    fn a_request_without_a_key_is_waived() {
        let ruling = verdict(Build::new().keyless("a", 1).status(1, 504));
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == NO_KEY));
    }

    #[test]
    fn a_run_that_goes_on_says_nothing_and_neither_does_an_empty_one() {
        assert_eq!(judge(&answered(504).history()), Ruling::Inconclusive);
        assert_eq!(verdict(Build::new()), Ruling::Inconclusive);
    }
}
