//! A read model that several folds share: requests by number, answers joined with their requests, what disturbed
//! the run.

use std::collections::{BTreeMap, BTreeSet};

use onceproof_gateway::store::State;

use crate::history::{Event, History};

/// Scope and key of a record (S9).
pub(super) type Slot<'a> = (&'a str, &'a str);

/// How far clocks may differ before that is a fault: the protocol's skew allowance.
pub(super) const SKEW_MS: u64 = 5_000;
/// How long after the last disturbance liveness is judged: the protocol's liveness bound.
pub(super) const BOUND_MS: u64 = 10 * 60 * 1000;

/// A request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) index: usize,
    pub(super) scope: &'a str,
    pub(super) key: Option<&'a str>,
    pub(super) content: &'a str,
    /// Whether its token is good.
    pub(super) authorized: bool,
}

impl<'a> Call<'a> {
    pub(super) fn slot(&self) -> Option<Slot<'a>> {
        self.key.map(|key| (self.scope, key))
    }
}

/// An answer that a producer has received, with its request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer<'a> {
    pub(super) index: usize,
    pub(super) op: &'a str,
    /// None where the history lacks the request.
    pub(super) call: Option<Call<'a>>,
    pub(super) status: u16,
    pub(super) replay: bool,
    pub(super) message_id: Option<&'a str>,
    pub(super) problem: Option<&'a str>,
    pub(super) digest: &'a str,
}

impl<'a> Answer<'a> {
    pub(super) fn is_success(&self) -> bool {
        is_success(self.status)
    }

    /// Whether the request was turned away before its key was looked up: token, tenant, size and the syntax of the
    /// key come first, and say nothing of what became of the message. A refusal that the provider spoke is none.
    pub(super) fn precedes_look_up(&self) -> bool {
        match self.status {
            400 => self.problem == Some("bad-key"),
            401 | 403 | 404 | 408 | 413 => self.problem != Some("message-refused"),
            _ => false,
        }
    }

    /// The key that its request bore, if any.
    pub(super) fn slot(&self) -> Option<Slot<'a>> {
        self.call.and_then(|call| call.slot())
    }

    /// Where its request stands, or the answer itself where the history lacks the request.
    pub(super) fn asked_at(&self) -> usize {
        self.call.map_or(self.index, |call| call.index)
    }
}

/// Requests by their number. The first of a number counts.
pub(super) fn calls(history: &History) -> BTreeMap<u32, Call<'_>> {
    let mut calls = BTreeMap::new();
    for (index, entry) in history.indexed() {
        if let Event::Request { call, scope, key, content, authorized, .. } = &entry.event {
            let (key, authorized) = (key.as_deref(), *authorized);
            calls.entry(*call).or_insert(Call { index, scope, key, content, authorized });
        }
    }
    calls
}

/// Every answer that a producer has received, in order.
pub(super) fn answers(history: &History) -> Vec<Answer<'_>> {
    let calls = calls(history);
    let mut answers = Vec::new();
    for (index, entry) in history.indexed() {
        if let Event::Response { op, call, status, replay, message_id, problem, digest } = &entry.event {
            answers.push(Answer {
                index,
                op,
                call: calls.get(call).copied(),
                status: *status,
                replay: *replay,
                message_id: message_id.as_deref(),
                problem: problem.as_deref(),
                digest,
            });
        }
    }
    answers
}

/// A record as it stands at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Final {
    pub(super) index: usize,
    pub(super) state: State,
    pub(super) status: Option<u16>,
    /// How long ago it should have been seen to; none if its time has not come.
    pub(super) overdue_ms: Option<u64>,
}

impl Final {
    /// Whether it says for good what became of its request. A stored server error does not: it is ambiguous (S6).
    pub(super) fn is_definite(&self) -> bool {
        match self.state {
            State::Claimed | State::Dispatching | State::Unknown => false,
            State::Done => self.status.is_none_or(|status| status < 500),
            State::Tombstone => true,
        }
    }
}

/// The records at the end, by scope and key.
pub(super) fn records(history: &History) -> BTreeMap<Slot<'_>, Final> {
    let mut records = BTreeMap::new();
    for (index, entry) in history.indexed() {
        if let Event::Record { scope, key, state, status, overdue_ms, .. } = &entry.event {
            let found = Final { index, state: *state, status: *status, overdue_ms: *overdue_ms };
            records.insert((scope.as_str(), key.as_str()), found);
        }
    }
    records
}

/// Whether the run is over, its bound passed: before that, liveness cannot be judged.
pub(super) fn has_ended(history: &History) -> bool {
    let mut entries = history.entries.iter();
    entries.any(|entry| matches!(entry.event, Event::End { .. }))
}

/// Whether the history shows the store at all, so that a record that is not shown is not there.
pub(super) fn shows_store(history: &History) -> bool {
    let shows =
        |event: &Event| matches!(event, Event::Store { .. } | Event::Record { .. } | Event::Inspected);
    history.entries.iter().any(|entry| shows(&entry.event))
}

/// When the last disturbance was over, if there was any: a fault, or an answer of the provider against the truth.
/// A fault that never ends lasts until the history does.
pub(super) fn disturbed_until_ms(history: &History) -> Option<u64> {
    let mut until_ms = None;
    let mut lasting = BTreeSet::new();
    for entry in &history.entries {
        match &entry.event {
            Event::Fault { fault, .. } => _ = lasting.insert(*fault),
            Event::FaultEnds { fault, .. } => _ = lasting.remove(fault),
            Event::Healed if !lasting.is_empty() => lasting.clear(),
            Event::ProviderAnswer { scripted: true, .. } | Event::ProviderStalls { .. } => {}
            _ => continue,
        }
        until_ms = Some(entry.at_ms);
    }
    if lasting.is_empty() { until_ms } else { history.entries.last().map(|entry| entry.at_ms) }
}

/// Where a clock was first set wrong, if ever. From there on, what a host takes for over may be minutes away.
pub(super) fn first_wrong_clock(history: &History) -> Option<usize> {
    let is_clock = |event: &Event| matches!(event, Event::Fault { kind, .. } if kind == "clock");
    history.entries.iter().position(|entry| is_clock(&entry.event))
}

/// A definite success.
pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// Whether a status says for good what became of the request (S6). 408, 409 and 429 do not: they ask for a repetition.
pub(super) fn is_definite(status: u16) -> bool {
    is_success(status) || ((400..500).contains(&status) && !matches!(status, 408 | 409 | 429))
}
