//! Which key an effect belongs to. The provider's ledger knows the operation; the key is found through the
//! requests that bore it, or exactly, through the reference that a `dispatching` mark bound to it.

use std::collections::BTreeMap;

use crate::history::Event;

use super::view::Slot;

/// What is known of requests and marks so far in a fold.
#[derive(Default)]
pub(super) struct Attribution<'a> {
    by_op: BTreeMap<&'a str, Sources<'a>>,
    by_reference: BTreeMap<&'a str, Slot<'a>>,
}

/// The requests that an effect may come from.
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub(super) struct Sources<'a> {
    /// The keys, with the first request that bore each, in the order of their use.
    pub(super) keys: Vec<(Slot<'a>, usize)>,
    /// The first request that bore none, if any.
    pub(super) keyless: Option<usize>,
}

impl<'a> Sources<'a> {
    /// The key that it must belong to and the request that bore it, where there is only one possibility.
    pub(super) fn only(&self) -> Option<(Slot<'a>, usize)> {
        match (self.keys.as_slice(), self.keyless) {
            ([key], None) => Some(*key),
            _ => None,
        }
    }
}

impl<'a> Attribution<'a> {
    /// Learns from an event.
    pub(super) fn observe(&mut self, index: usize, event: &'a Event) {
        match event {
            Event::Request { op, scope, key, .. } => {
                let sources = self.by_op.entry(op).or_default();
                match key {
                    None => _ = sources.keyless.get_or_insert(index),
                    Some(key) => sources.bears((scope, key), index),
                }
            }
            // A worker sends what an event asks for, under a key of the event's own.
            Event::Job { op: Some(op), scope: Some(scope), key: Some(key), .. }
            | Event::WorkerSend { op, scope, key, .. } => {
                self.by_op.entry(op).or_default().bears((scope, key), index);
            }
            Event::Store { command, scope, key, reply, reference: Some(reference), .. }
                if command == "mark" && reply == "applied" =>
            {
                self.by_reference.entry(reference).or_insert((scope, key));
            }
            _ => {}
        }
    }

    /// Where an effect of this operation with this reference may come from, of what was sent so far.
    pub(super) fn sources(&self, op: &str, reference: Option<&str>) -> Sources<'a> {
        let sources = self.by_op.get(op).cloned().unwrap_or_default();
        let marked = reference.and_then(|reference| self.by_reference.get(reference));
        let exact = sources.keys.iter().find(|(slot, _)| Some(slot) == marked);
        match exact {
            Some(key) => Sources { keys: vec![*key], keyless: None },
            None => sources,
        }
    }
}

impl<'a> Sources<'a> {
    fn bears(&mut self, slot: Slot<'a>, index: usize) {
        if self.keys.iter().all(|(known, _)| *known != slot) {
            self.keys.push((slot, index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::history::build::{Build, SCOPE};

    fn learned(history: &History) -> Attribution<'_> {
        let mut attribution = Attribution::default();
        for (index, entry) in history.indexed() {
            attribution.observe(index, &entry.event);
        }
        attribution
    }

    #[test]
    fn keys_come_from_the_requests_of_the_operation() {
        let history = Build::new()
            .request("a", 1, "k1")
            .request("b", 2, "kb")
            .request("a", 3, "k2")
            .request("a", 4, "k1")
            .history();
        let attribution = learned(&history);
        let keys = vec![((SCOPE, "k1"), 0), ((SCOPE, "k2"), 2)];
        assert_eq!(attribution.sources("a", None).keys, keys);
        assert_eq!(attribution.sources("a", None).only(), None);
        let only = Some(((SCOPE, "kb"), 1));
        assert_eq!(attribution.sources("b", None).only(), only);
        assert_eq!(attribution.sources("nobody", None), Sources::default());
    }

    #[test]
    fn the_key_of_an_event_is_the_one_that_its_effect_waits_with() {
        let history =
            Build::new().delivery("a", 1).job("a", "leased", 1).outbox("a", "leased", 2, "ev-a").history();
        assert_eq!(learned(&history).sources("a", None).only(), Some(((SCOPE, "ev-a"), 2)));
        let history = Build::new().delivery("a", 1).worker_send("a", "ev-a").history();
        assert_eq!(learned(&history).sources("a", None).only(), Some(((SCOPE, "ev-a"), 1)));
    }

    #[test]
    fn a_mark_says_exactly_which_key() {
        let history = Build::new()
            .request("a", 1, "k1")
            .keyless("a", 2)
            .request("a", 3, "k2")
            .mark("k2", 1, "r2")
            .mark("other", 2, "r3")
            .store("mark", "k1", Some(1), None, "fenced", None, Some("r4"))
            .history();
        let attribution = learned(&history);
        let sources = attribution.sources("a", Some("r2"));
        assert_eq!(sources.only(), Some(((SCOPE, "k2"), 2)));
        let sources = attribution.sources("a", Some("r3"));
        assert_eq!(sources.keys.len(), 2, "not a key of this operation");
        assert_eq!(sources.keyless, Some(1));
        let fenced = attribution.sources("a", Some("r4"));
        assert_eq!(fenced.only(), None, "that mark was never made");
    }
}
