//! What a transaction looks like in a history.

use super::tables::{Change, Message};
use crate::{
    history::Event,
    sim::{cast::DATABASE, stage::Stage},
};

/// A transaction, once it is durable. That a message waits is said when it is taken.
pub fn committed(stage: &Stage, changes: &[Change]) -> Vec<Event> {
    let gives_up = changes.iter().any(|change| matches!(change, Change::DeadLetter(_)));
    let gone = if gives_up { "buried" } else { "completed" };
    let told = changes.iter().filter_map(|change| match change {
        Change::Webhook { payload, .. } => Some(received(stage, payload, true)),
        Change::Message(_) | Change::DeadLetter(_) => None,
        Change::MessageGone { id, payload } => Some(message(stage, *id, payload, gone, None)),
        Change::MessageLater { id, payload, .. } => Some(message(stage, *id, payload, "retried", None)),
    });
    told.collect()
}

/// An event whose id the constraint has refused.
pub fn known(stage: &Stage, payload: &str) -> Event {
    received(stage, payload, false)
}

/// A message that a worker has locked.
pub fn taken(stage: &Stage, taken: &Message) -> Event {
    message(stage, taken.id, &taken.payload, "leased", Some(taken.attempts + 1))
}

fn received(stage: &Stage, payload: &str, is_new: bool) -> Event {
    Event::Received {
        store: DATABASE.into(),
        ops: vec![stage.operation(payload).into()],
        new: is_new.into(),
        known: (!is_new).into(),
        dead: 0,
    }
}

fn message(stage: &Stage, id: i64, payload: &str, what: &str, attempt: Option<u32>) -> Event {
    Event::Job {
        store: DATABASE.into(),
        op: Some(stage.operation(payload).into()),
        queue: "outbox".into(),
        id,
        what: what.into(),
        attempt,
        token: None,
        scope: None,
        key: None,
    }
}
