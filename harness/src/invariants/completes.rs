//! `completes`: without faults, or with a provider that takes a key, everything ends definite; with one that can be
//! asked, so does what it has.

use std::collections::{BTreeMap, BTreeSet};

use onceproof_gateway::store::State;

use crate::history::{Ability, Event, History};

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, Answer, BOUND_MS, Call, Final, Slot};
use super::waiver::{Losses, NO_KEY};

pub(super) const INVARIANT: Invariant = Invariant {
    name: "completes",
    kind: Kind::Liveness,
    promise: "Without faults, or healed with a provider that takes our key, every operation ends definite; healed \
              with one that can be asked, every operation that it has.",
    rules: &["S6", "S11", "S12", "S13"],
    judge,
};

/// What an operation came to.
#[derive(Default)]
struct Outcome<'a> {
    request: Option<Call<'a>>,
    answer: Option<Answer<'a>>,
    /// Whether an operator has settled it since its last request.
    is_resolved: bool,
}

fn judge(history: &History) -> Ruling {
    let disturbed_until_ms = view::disturbed_until_ms(history);
    let ability = history.header.ability;
    // What a provider echoes settles what it echoes; it owes nobody a status.
    let is_silent = matches!(ability, Ability::Opaque | Ability::Echoing);
    let binds = disturbed_until_ms.is_none() || !is_silent;
    if !binds || !view::has_ended(history) {
        return Ruling::Inconclusive;
    }
    let mut findings = Findings::default();
    let (records, losses) = (view::records(history), Losses::of(history));
    never_sent(history, &mut findings);
    let (had, marked) = (had(history), marked(history));
    // Undisturbed, nothing is left without a record because it was lost: whoever sends nothing completes nothing.
    let absent_is_definite = disturbed_until_ms.is_some() && view::shows_store(history);
    for (op, outcome) in outcomes(history) {
        // "Not found" settles nothing: what the provider does not have may stay unknown.
        let may_stay_unknown = disturbed_until_ms.is_some() && ability == Ability::Queryable;
        let Some(request) = outcome.request.filter(|_| !may_stay_unknown || had.contains(op)) else {
            continue;
        };
        findings.relevant();
        let record = request.slot().map(|slot: Slot<'_>| records.get(&slot));
        if is_definite(&outcome, record, absent_is_definite) {
            continue;
        }
        let found = record.flatten();
        let why = format!("operation {op:?} is still pending: {}", pending(&outcome, found));
        let waiver = match request.slot() {
            None => Some(NO_KEY),
            Some(slot) => {
                let dispatched_ms = marked.get(&slot).copied();
                let is_unknown = found.is_none_or(|record| record.state == State::Unknown);
                if is_unknown && is_forgotten(history, dispatched_ms, disturbed_until_ms) {
                    // From there on the provider is one that cannot be asked, which promises nothing here.
                    continue;
                }
                losses.waives(slot, request.index, history.entries.len())
            }
        };
        let answer = outcome.answer.map(|answer| answer.index);
        let places = [Some(request.index), answer, found.map(|record| record.index)];
        findings.breach(waiver, why, places.into_iter().flatten());
    }
    findings.ruling()
}

/// What a producer took and never sent is as pending as can be, unless it was given up before its turn came.
fn never_sent(history: &History, findings: &mut Findings) {
    let mut begun = BTreeSet::new();
    for entry in &history.entries {
        if let Event::Request { op, .. } | Event::DeadLetter { op, .. } = &entry.event {
            begun.insert(op.as_str());
        }
    }
    for (op, taken) in view::ordered(history) {
        findings.relevant();
        if !begun.contains(op) {
            let why = format!("operation {op:?} is still pending: its producer took it and never sent it");
            findings.violate(why, [taken]);
        }
    }
}

/// The operations that a provider has under their reference, so that it can be asked and finds them.
fn had(history: &History) -> BTreeSet<&str> {
    let acted = history.entries.iter().filter_map(|entry| match &entry.event {
        Event::Effect { op, reference: Some(_), .. } => Some(op.as_str()),
        _ => None,
    });
    acted.collect()
}

/// When each key's last claim was first dispatched, as far as the store shows it.
fn marked(history: &History) -> BTreeMap<Slot<'_>, u64> {
    let mut marked = BTreeMap::new();
    for entry in &history.entries {
        if let Event::Store { command, scope, key, reply, .. } = &entry.event
            && (command.as_str(), reply.as_str()) == ("mark", "applied")
        {
            marked.insert((scope.as_str(), key.as_str()), entry.at_ms);
        }
    }
    marked
}

/// Whether the provider had forgotten the key before there was time to ask it undisturbed.
fn is_forgotten(history: &History, dispatched_ms: Option<u64>, disturbed_until_ms: Option<u64>) -> bool {
    match (history.header.key_retention_ms, dispatched_ms, disturbed_until_ms) {
        (Some(retention_ms), Some(dispatched_ms), Some(until_ms)) => {
            until_ms.saturating_add(BOUND_MS) >= dispatched_ms.saturating_add(retention_ms)
        }
        _ => false,
    }
}

/// By operation: its last request and the last answer that its producer received, but for one that says nothing of
/// the outcome after one that does; and what an operator settled.
fn outcomes(history: &History) -> BTreeMap<&str, Outcome<'_>> {
    let mut outcomes: BTreeMap<&str, Outcome<'_>> = BTreeMap::new();
    let calls = view::calls(history);
    for entry in &history.entries {
        match &entry.event {
            Event::Request { op, call, .. } => {
                let outcome = outcomes.entry(op).or_default();
                outcome.request = calls.get(call).copied();
                outcome.is_resolved = false;
            }
            Event::Resolve { op, status: Some(status), .. } => {
                outcomes.entry(op).or_default().is_resolved |= view::is_success(*status);
            }
            _ => {}
        }
    }
    for answer in view::answers(history) {
        let outcome = outcomes.entry(answer.op).or_default();
        if outcome.answer.is_none() || !answer.precedes_look_up() {
            outcome.answer = Some(answer);
        }
    }
    outcomes
}

/// `record` is none for a request without a key, and holds none for a key without a record.
fn is_definite(outcome: &Outcome<'_>, record: Option<Option<&Final>>, absent_is_definite: bool) -> bool {
    let answered = outcome.answer.is_some_and(|answer| view::is_definite(answer.status));
    answered
        || outcome.is_resolved
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
    use super::super::waiver::LOST_COMMITS;
    use super::*;
    use crate::history::build::{Build, DAY};

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
    fn an_order_that_is_never_sent_is_pending_unless_it_was_given_up() {
        let taken = || Build::new().ordered("a");
        assert!(verdict(taken()).why().ends_with("never sent it"));
        assert_eq!(verdict(taken()).evidence(), [0]);
        assert_eq!(verdict(taken().dead_letter("a")), Ruling::Kept);
        assert_eq!(verdict(taken().request("a", 1, "k1").status(1, 200)), Ruling::Kept);
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
        assert_eq!(verdict(sent().stalls("a", "r1", 50_000)), Ruling::Inconclusive);
        assert!(verdict(sent().keyed().scripted("a", "r1", 500)).is_violated());
    }

    #[test]
    fn what_a_provider_that_can_be_asked_has_ends_definite() {
        let sent = || Build::new().queryable().request("a", 1, "k1").fault(1, &["whatsapp"]).fault_ends(1);
        let had = || sent().effect_ref("a", "m1", "r1").status(1, 504);
        assert!(verdict(had()).is_violated());
        assert_eq!(verdict(had().query("r1", true).record("k1", State::Done, Some(200))), Ruling::Kept);
        assert_eq!(verdict(sent().query("r1", false).status(1, 504)), Ruling::Inconclusive);
        assert_eq!(verdict(sent().effect("a", "m1").status(1, 504)), Ruling::Inconclusive, "by what to ask?");
    }

    #[test]
    fn an_operator_makes_it_definite_until_the_next_request() {
        let resolved = |status| struck().status(1, 504).resolve("a", "not-sent", status);
        assert_eq!(verdict(resolved(200)), Ruling::Kept);
        assert!(verdict(resolved(409)).is_violated());
        assert!(verdict(resolved(200).request("a", 2, "k1").status(2, 504)).is_violated());
    }

    #[test]
    fn a_wrong_token_says_nothing_of_what_is_pending() {
        let pending = struck().status(1, 504).request("a", 2, "k1").status(2, 401);
        assert!(verdict(pending).is_violated());
        assert_eq!(verdict(struck().status(1, 401)), Ruling::Kept);
    }

    #[test]
    fn past_the_retention_of_the_provider_nothing_is_promised() {
        let healed_at = |ms| {
            let cut = Build::new().keyed().request("a", 1, "k1").mark("k1", 1, "r1").fault(1, &["whatsapp"]);
            let healed = cut.status(1, 504).at(ms).fault_ends(1).at(ms + 10 * 60_000);
            verdict(healed.record("k1", State::Unknown, None))
        };
        assert!(healed_at(DAY - 10 * 60_000 - 1).is_violated(), "there was time to ask");
        assert_eq!(healed_at(DAY - 10 * 60_000), Ruling::Kept, "there was none");
    }

    #[test]
    fn what_the_store_forgot_is_waived() {
        let lost = Build::new().keyed().request("a", 1, "k1").claim("k1", 1).loses(1).status(1, 504);
        let ruling = verdict(lost.record("k1", State::Unknown, None));
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS), "{ruling:?}");
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
