//! What a producer is asked for: one logical operation, of one step or of several.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One logical operation. It is written down whole, so that a restart knows all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// What it is known by to whoever places it; placed again under the same id, it is the same order.
    pub id: String,
    /// How its keys are made.
    pub keys: Keys,
    /// What is done, in this order; none begins before the one before it has succeeded (S13).
    pub steps: Vec<Step>,
}

/// How the keys of an order are made, one for each step (S12).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Keys {
    /// Drawn once, with the order: for an operation that only one producer can ask for.
    Random,
    /// From what the operation is: whoever asks for the same has the same keys.
    Deterministic(Domain),
}

/// The facts that a deterministic key is made of. Two operations that differ in none of them are one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    /// The instance that sends; for an order that creates one, the account.
    pub instance: String,
    /// To whom.
    pub recipient: String,
    /// The event that the message is about, such as `pedido-70`, if there is one.
    pub event: Option<String>,
    /// The template of a message that is due once in each day or hour, such as a reminder.
    pub template: Option<String>,
    /// When the event happened, or the message was due, as wall-clock time in milliseconds. Never when a producer got
    /// round to it.
    pub event_ms: i64,
}

/// One request to the gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Where it goes.
    pub target: Target,
    /// The body, which is JSON.
    pub content: Value,
}

/// Where a step goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// `POST /v1/instances`, for the account.
    NewInstance,
    /// A canonical route of an instance, such as `messages/text`.
    Of {
        /// The instance.
        instance: String,
        /// The route.
        route: String,
    },
    /// A canonical route of the instance that an earlier step of this order created.
    OfCreated {
        /// The number of that step, from 0.
        step: usize,
        /// The route.
        route: String,
    },
}

/// Why an order cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// There is nothing to do.
    #[error("the order has no steps")]
    NoSteps,
    /// A deterministic key that is about nothing would be that of every message to its recipient.
    #[error("the order names neither an event nor a template, so that its key would be about nothing")]
    NoSubject,
    /// A step sends through an instance that no earlier step creates.
    #[error("step {0} sends through an instance that no step before it creates")]
    NotCreated(usize),
    /// The time of the event is none that a calendar has.
    #[error("the time of the event is no date")]
    NoDate,
}

impl Order {
    /// Whether it has several steps (S13).
    #[must_use]
    pub fn is_composite(&self) -> bool {
        self.steps.len() > 1
    }

    /// Whether it can be done at all.
    ///
    /// # Errors
    /// [`OrderError`], but for the date, which depends on the zone.
    pub fn check(&self) -> Result<(), OrderError> {
        if self.steps.is_empty() {
            return Err(OrderError::NoSteps);
        }
        if let Keys::Deterministic(Domain { event: None, template: None, .. }) = &self.keys {
            return Err(OrderError::NoSubject);
        }
        for (number, step) in self.steps.iter().enumerate() {
            if let Target::OfCreated { step: creator, .. } = &step.target {
                let creates = |step: &Step| step.target == Target::NewInstance;
                if *creator >= number || !self.steps.get(*creator).is_some_and(creates) {
                    return Err(OrderError::NotCreated(number));
                }
            }
        }
        Ok(())
    }
}
