//! The scenario file: a story that a gateway must survive.
//!
//! A [`Scenario`] names lists of profiles and abilities; a [`Plan`](super::Plan) is the same with one of
//! each and a seed. Both are the same TOML.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BatchItem, Deliver, Expectations, Fault, InboundEvent, ScriptedAnswer, Send, SignatureKind, Step, Vary,
    WorldSpec,
};

/// A story, its world, and what is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// One line that says what happens.
    pub title: String,
    /// Two or three sentences that say why it matters.
    pub story: String,
    /// The rules that it shows, such as `S10`.
    pub rules: Vec<String>,
    /// The hosts, who plays them, and their settings.
    pub world: WorldSpec,
    /// What the producers and the sender of webhooks do.
    #[serde(default, rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What the provider says against the truth.
    #[serde(default, rename = "answer", skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<ScriptedAnswer>,
    /// What strikes.
    #[serde(default, rename = "fault", skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// What placeholders stand for, where one story is told several times.
    #[serde(default, skip_serializing_if = "Vary::is_empty")]
    pub vary: Vary,
    /// What is expected.
    pub expect: Expectations,
}

impl Scenario {
    /// Whether a Redis is one of the hosts of the world.
    #[must_use]
    pub fn needs_redis(&self) -> bool {
        let delivers = self.deliveries().next().is_some();
        self.world.redis || super::needs_redis(&self.world.profiles, delivers)
    }

    /// The logical operations: what its steps send, and the events that they deliver. An altered delivery has one of its
    /// own, so that whoever acts on it is seen.
    #[must_use]
    pub fn ops(&self) -> BTreeSet<String> {
        let sent = self.sends().map(|send| send.op.clone());
        let altered = self.deliveries().filter(|deliver| deliver.signature == SignatureKind::AlteredBody);
        let altered =
            altered.flat_map(|deliver| self.events(deliver)).map(|event| Deliver::forged(&event.op));
        sent.chain(self.event_ops()).chain(altered).collect()
    }

    /// The events that its steps deliver.
    #[must_use]
    pub fn event_ops(&self) -> BTreeSet<String> {
        let events = self.deliveries().flat_map(|deliver| self.events(deliver));
        events.map(|event| event.op).collect()
    }

    /// Every delivery of events, in the order of the steps.
    pub fn deliveries(&self) -> impl Iterator<Item = &Deliver> {
        self.steps.iter().filter_map(|step| step.deliver.as_ref())
    }

    /// What a delivery bears: what it says itself, else what the first step that names it says.
    #[must_use]
    pub fn events(&self, deliver: &Deliver) -> Vec<InboundEvent> {
        let is_batch = |first: &&Deliver| first.op == deliver.op && !first.items.is_empty();
        let items = match self.deliveries().find(is_batch) {
            _ if !deliver.items.is_empty() => &deliver.items,
            Some(first) => &first.items,
            None => {
                let (from, text) = self.said(&deliver.op, &deliver.from, &deliver.text);
                let (op, entry, change, poison) = (deliver.op.clone(), 1, 1, false);
                return vec![InboundEvent { op, from, text, entry, change, poison }];
            }
        };
        let of_item = |item: &BatchItem| {
            let (from, text) = self.said(&item.op, &item.from, &item.text);
            let BatchItem { entry, change, poison, .. } = *item;
            let event =
                |op| InboundEvent { op, from: from.clone(), text: text.clone(), entry, change, poison };
            item.ops().map(event).collect::<Vec<_>>()
        };
        items.iter().flat_map(of_item).collect()
    }

    /// Who wrote an event, and what: as it is said here, else as the first step that names it says.
    fn said(&self, op: &str, from: &Option<String>, text: &Option<String>) -> (String, String) {
        let batched = self.deliveries().flat_map(|deliver| &deliver.items);
        let batched = batched.filter(|item| item.op == op).map(|item| (&item.from, &item.text));
        let alone = self.deliveries().filter(|deliver| deliver.op == op && deliver.items.is_empty());
        let mut everywhere = alone.map(|deliver| (&deliver.from, &deliver.text)).chain(batched);
        let first = everywhere.find(|(from, _)| from.is_some());
        let (first_from, first_text) = first.unwrap_or((&None, &None));
        let or = |here: &Option<String>, first: &Option<String>| {
            here.clone().or(first.clone()).unwrap_or_default()
        };
        (or(from, first_from), or(text, first_text))
    }

    /// The first step of an operation: the one that says what is sent.
    #[must_use]
    pub fn first_send(&self, op: &str) -> Option<&Send> {
        self.sends().find(|send| send.op == op)
    }

    /// Every send, in the order of the steps.
    pub fn sends(&self) -> impl Iterator<Item = &Send> {
        self.steps.iter().filter_map(|step| step.send.as_ref())
    }
}
