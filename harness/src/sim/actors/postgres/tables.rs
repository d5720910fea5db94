//! What is committed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The tables.
#[derive(Default)]
pub struct Tables {
    /// Of a webhook only the id is ever asked for again.
    pub webhooks: BTreeSet<String>,
    /// Messages that are not published.
    pub outbox: BTreeMap<i64, Message>,
    /// What was given up.
    pub dead_letters: Vec<DeadLetter>,
}

/// A row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its number.
    pub id: i64,
    /// What it is about, as JSON.
    pub payload: String,
    /// How many attempts to publish it have failed.
    pub attempts: u32,
    /// From when on it may be published, in milliseconds since 1970.
    pub due_ms: i64,
}

/// A row of the dead letters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// What it was about, as JSON.
    pub payload: String,
    /// Why it was given up.
    pub error: String,
    /// When, in milliseconds since 1970.
    pub failed_at_ms: i64,
}

/// What a transaction does to the tables once it is committed.
#[derive(Debug, Clone)]
pub enum Change {
    /// A webhook is known.
    Webhook { event_id: String, payload: String },
    /// A message waits.
    Message(Message),
    /// A message is published, or given up.
    MessageGone { id: i64, payload: String },
    /// A message waits longer.
    MessageLater { id: i64, payload: String, attempts: u32, due_ms: i64 },
    /// Something is given up.
    DeadLetter(DeadLetter),
}

impl Tables {
    /// Does it.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Webhook { event_id, .. } => _ = self.webhooks.insert(event_id.clone()),
            Change::Message(message) => _ = self.outbox.insert(message.id, message.clone()),
            Change::MessageGone { id, .. } => _ = self.outbox.remove(id),
            Change::MessageLater { id, attempts, due_ms, .. } => {
                if let Some(message) = self.outbox.get_mut(id) {
                    (message.attempts, message.due_ms) = (*attempts, *due_ms);
                }
            }
            Change::DeadLetter(letter) => self.dead_letters.push(letter.clone()),
        }
    }
}
