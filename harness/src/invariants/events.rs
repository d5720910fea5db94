//! A read model of the receiving side that several folds share: deliveries by number, their answers, and what became of
//! the events that they bear.

use std::collections::{BTreeMap, BTreeSet};

use onceproof_gateway::store::State;

use crate::history::{Event, History};

use super::view;

/// A delivery.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery<'a> {
    pub(super) index: usize,
    pub(super) at_ms: u64,
    pub(super) host: &'a str,
    pub(super) to: &'a str,
    pub(super) op: &'a str,
    pub(super) ops: &'a [String],
    pub(super) signed: bool,
}

/// The answer to a delivery, or that there was none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard<'a> {
    pub(super) index: usize,
    pub(super) at_ms: u64,
    pub(super) delivery: Delivery<'a>,
    /// HTTP status; none if there was no answer.
    pub(super) status: Option<u16>,
    /// What the problem is called, if the answer says.
    pub(super) problem: Option<&'a str>,
}

impl Heard<'_> {
    /// Whether its sender may forget it (W6).
    pub(super) fn is_acknowledged(&self) -> bool {
        self.status.is_some_and(view::is_success)
    }
}

/// Deliveries by their number. The first of a number counts.
pub(super) fn deliveries(history: &History) -> BTreeMap<u32, Delivery<'_>> {
    let mut deliveries = BTreeMap::new();
    for (index, entry) in history.indexed() {
        if let Event::Delivery { op, ops, call, to, signed, .. } = &entry.event {
            let (at_ms, host) = (entry.at_ms, entry.host.as_str());
            let delivery = Delivery { index, at_ms, host, to, op, ops, signed: *signed };
            deliveries.entry(*call).or_insert(delivery);
        }
    }
    deliveries
}

/// What senders heard of their deliveries, in order.
pub(super) fn heard(history: &History) -> Vec<Heard<'_>> {
    let deliveries = deliveries(history);
    let mut heard = Vec::new();
    for (index, entry) in history.indexed() {
        let (call, status, problem) = match &entry.event {
            Event::DeliveryAnswer { call, status, problem, .. } => (call, Some(*status), problem.as_deref()),
            Event::NoResponse { call, .. } => (call, None, None),
            _ => continue,
        };
        if let Some(delivery) = deliveries.get(call) {
            heard.push(Heard { index, at_ms: entry.at_ms, delivery: *delivery, status, problem });
        }
    }
    heard
}

/// By event: the place of the first delivery that was the provider's and bore it.
pub(super) fn first_delivered(history: &History) -> BTreeMap<&str, usize> {
    let mut first = BTreeMap::new();
    for delivery in deliveries(history).into_values().filter(|delivery| delivery.signed) {
        for op in delivery.ops {
            let place = first.entry(op.as_str()).or_insert(delivery.index);
            *place = delivery.index.min(*place);
        }
    }
    first
}

/// By event: the first acknowledgement of a delivery that was the provider's and bore it.
pub(super) fn acknowledged(history: &History) -> BTreeMap<&str, Heard<'_>> {
    let mut acknowledged = BTreeMap::new();
    for heard in heard(history) {
        if heard.is_acknowledged() && heard.delivery.signed {
            for op in heard.delivery.ops {
                acknowledged.entry(op.as_str()).or_insert(heard);
            }
        }
    }
    acknowledged
}

/// By event: the place where a store made it its own first.
pub(super) fn first_owned(history: &History) -> BTreeMap<&str, usize> {
    let mut owned = BTreeMap::new();
    for (index, entry) in history.indexed() {
        if let Event::Received { ops, .. } = &entry.event {
            ops.iter().for_each(|op| _ = owned.entry(op.as_str()).or_insert(index));
        }
    }
    owned
}

/// The events that came to something in the end: an effect, a dead letter, or a send that is visibly unknown.
pub(super) fn accounted(history: &History) -> BTreeSet<&str> {
    let records = view::records(history);
    let is_unknown =
        |scope: &str, key: &str| records.get(&(scope, key)).is_some_and(|it| it.state == State::Unknown);
    let accounted = history.entries.iter().filter_map(|entry| match &entry.event {
        Event::Effect { op, .. } | Event::DeadLetter { op, .. } => Some(op.as_str()),
        Event::Job { op: Some(op), scope: Some(scope), key: Some(key), .. } if is_unknown(scope, key) => {
            Some(op.as_str())
        }
        Event::WorkerSend { op, scope, key, .. } if is_unknown(scope, key) => Some(op.as_str()),
        _ => None,
    });
    accounted.collect()
}
