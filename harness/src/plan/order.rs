//! What is ordered of a producer that keeps its side of the promise (S12, S13).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::is_false;
use super::{Scenario, Span};

/// The host of the first producer.
pub const PRODUCER: &str = "producer";
/// The host of the second producer, which is there where a step names it.
pub const SECOND_PRODUCER: &str = "producer-2";

/// An order of one logical operation. Whoever places it places it again until its producer has taken it; then the producer
/// sends until the answer is definite, also after a crash.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Name of the logical operation. A second step with the same `op` orders it again, of this producer or of another,
    /// and leaves out what it is.
    pub op: String,
    /// The recipient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How its keys are made; random, unless it says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<KeysKind>,
    /// The event that it is about, as a part of deterministic keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The template of its text, as a part of deterministic keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// When the event happened, since the run began at 2026-01-01T00:00:00Z; without it, when it is first ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_time: Option<Span>,
    /// The operation that creates an instance first, through which the message is then sent: an order of two steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// The host of the producer that is asked.
    #[serde(default = "Order::first_producer", skip_serializing_if = "Order::is_first_producer")]
    pub producer: String,
    /// Whether the producer makes the first attempt itself, past its queue.
    #[serde(default, skip_serializing_if = "is_false")]
    pub at_once: bool,
}

impl Order {
    fn first_producer() -> String {
        PRODUCER.into()
    }
    fn is_first_producer(producer: &String) -> bool {
        producer == PRODUCER
    }

    /// The operations of its steps, in their order.
    pub fn ops(&self) -> impl Iterator<Item = &String> {
        self.setup.iter().chain([&self.op])
    }
}

/// How the keys of an order are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeysKind {
    /// Drawn once, with the order.
    #[default]
    Random,
    /// From instance, recipient, event or template, and the day of the event.
    Deterministic,
}

impl Scenario {
    /// Every order, in the order of the steps.
    pub fn orders(&self) -> impl Iterator<Item = &Order> {
        self.steps.iter().filter_map(|step| step.order.as_ref())
    }

    /// The first step that orders this operation, which says what it is, and when it was first ordered.
    #[must_use]
    pub fn first_order(&self, op: &str) -> Option<(&Order, Span)> {
        let ordered = self.steps.iter().filter_map(|step| Some((step.order.as_ref()?, step.at)));
        ordered.into_iter().find(|(order, _)| order.op == op)
    }

    /// The hosts of its producers. Whatever else somebody does outside of the gateways is done on the first.
    #[must_use]
    pub fn producers(&self) -> Vec<&'static str> {
        let has_second = self.orders().any(|order| order.producer == SECOND_PRODUCER);
        [PRODUCER].into_iter().chain(has_second.then_some(SECOND_PRODUCER)).collect()
    }
}
