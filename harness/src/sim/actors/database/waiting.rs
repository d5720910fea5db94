//! What a transaction about events looks like in a history. A store knows rows by number; a reader knows events by name.

use std::collections::BTreeMap;

use onceproof_gateway::store::{EventCommand, EventReply, Failure, Item, Queue, Reply, Slot, Ticket, Work};

use crate::{
    history::Event,
    sim::{marker::UNMARKED, stage::Stage},
};

/// What is known of rows since they were leased first.
#[derive(Default)]
pub struct Waiting {
    rows: BTreeMap<(Queue, i64), Row>,
}

/// What a row is about.
#[derive(Clone, Default)]
struct Row {
    op: Option<String>,
    slot: Option<Slot>,
}

impl Waiting {
    /// Learns from a transaction, and tells it.
    pub fn observe(
        &mut self,
        store: &str,
        stage: &Stage,
        command: &EventCommand,
        reply: &Reply,
    ) -> Option<Event> {
        match (command, reply) {
            (
                EventCommand::Receive { items, .. },
                Reply::Event(EventReply::Received { new, known, dead }),
            ) => {
                let (store, ops) = (store.into(), ops(stage, items));
                Some(Event::Received { store, ops, new: *new, known: *known, dead: *dead })
            }
            (_, Reply::Event(EventReply::Leased { ticket, attempt, work })) => {
                self.rows.insert((ticket.queue, ticket.id), row(stage, work));
                Some(self.job(store, *ticket, "leased", Some(*attempt)))
            }
            (EventCommand::Heartbeat { ticket, .. }, _) => self.written(store, *ticket, "heartbeat", reply),
            (EventCommand::Complete { ticket, .. }, _) => self.written(store, *ticket, "completed", reply),
            (EventCommand::Fail { ticket, failure, .. }, _) => {
                self.written(store, *ticket, failed(*failure), reply)
            }
            _ => None,
        }
    }

    /// What a worker wrote about its row, or would have.
    fn written(&self, store: &str, ticket: Ticket, what: &str, reply: &Reply) -> Option<Event> {
        match reply {
            Reply::Applied => Some(self.job(store, ticket, what, None)),
            Reply::Fenced { .. } => Some(self.job(store, ticket, &format!("{what} (fenced)"), None)),
            _ => None,
        }
    }

    fn job(&self, store: &str, ticket: Ticket, what: &str, attempt: Option<u32>) -> Event {
        let Row { op, slot } = self.rows.get(&(ticket.queue, ticket.id)).cloned().unwrap_or_default();
        let queue = match ticket.queue {
            Queue::Job => "job",
            Queue::Outbox => "outbox",
        };
        Event::Job {
            store: store.into(),
            op,
            queue: queue.into(),
            id: ticket.id,
            what: what.into(),
            attempt,
            token: Some(ticket.token),
            scope: slot.as_ref().map(|slot| slot.scope.clone()),
            key: slot.map(|slot| slot.key),
        }
    }
}

/// What is asked for; whether a retry was the last is seen in what follows.
fn failed(failure: Failure) -> &'static str {
    match failure {
        Failure::Retry { .. } => "retried",
        Failure::Postpone => "postponed",
        Failure::Park => "parked",
        Failure::Bury => "buried",
    }
}

/// The events of a delivery, each once.
fn ops(stage: &Stage, items: &[Item]) -> Vec<String> {
    let mut ops: Vec<String> = Vec::new();
    for op in items.iter().filter_map(|item| known(stage, &item.payload)) {
        if !ops.contains(&op) {
            ops.push(op);
        }
    }
    ops
}

fn row(stage: &Stage, work: &Work) -> Row {
    match work {
        Work::Job { payload, .. } => Row { op: known(stage, payload), slot: None },
        Work::Send { effect } => Row { op: known(stage, &effect.content), slot: Some(effect.slot.clone()) },
    }
}

fn known(stage: &Stage, content: &str) -> Option<String> {
    Some(stage.operation(content)).filter(|op| *op != UNMARKED).map(str::to_owned)
}
