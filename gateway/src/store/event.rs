//! What can be asked of a store about events: each [`EventCommand`] is one transaction, as every
//! [`Command`](super::Command) is.
//!
//! The way of an event: inbox row and job in one transaction (W5), a worker's lease of the job, its effects as outbox
//! rows in the transaction that completes the job (W10), a lease of each of these, and its send. Rows wait in one of two
//! queues; both know `ready`, `leased` and `dead`, and the outbox knows `parked` besides.

use serde::{Deserialize, Serialize};

use super::{DeadFilter, DeadLetter, Slot};

/// What an event is unique in (W3): for each subscriber it acts once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventKey {
    /// Whose webhook it is, as in the path.
    pub provider: String,
    /// Which endpoint took it: the instance that answers.
    pub endpoint: String,
    /// The provider's id of it. Never a signature (W3).
    pub event_id: String,
    /// Which of the items that bear this id, such as `message` or `status/read`.
    pub item: String,
    /// Who is to act on it.
    pub subscriber: String,
}

/// One item of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What it is unique in.
    pub key: EventKey,
    /// What the worker reads: JSON text.
    pub payload: String,
    /// Why it is dead on arrival; `None` is good (W4).
    pub error: Option<String>,
}

/// Where a row waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queue {
    /// For a worker.
    Job,
    /// For its send.
    Outbox,
}

impl Queue {
    /// What it is called on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Outbox => "outbox",
        }
    }
}

/// A lease of one row: every write about the row is fenced by its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Which queue.
    pub queue: Queue,
    /// Which row of it. Never used again.
    pub id: i64,
    /// From the sequence of claim tokens: never used again either.
    pub token: i64,
}

/// A send that a worker owes (W10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Its stable id: the same effect is written once.
    pub id: String,
    /// Scope and domain key of the send (S12).
    pub slot: Slot,
    /// The content of the send: JSON text.
    pub content: String,
}

/// How far a message has come, in the order in which evidence counts (W11): `failed` only from below `delivered`, and
/// evidence of delivery wins whenever it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// The provider has sent it on.
    Sent,
    /// It could not be delivered.
    Failed,
    /// It is on the recipient's device.
    Delivered,
    /// The recipient has read it.
    Read,
}

/// What a status says of a message (W11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusUpdate {
    /// The provider's id of the message.
    pub message_id: String,
    /// How far it has come.
    pub delivery: Delivery,
}

/// What a worker has done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Done {
    /// What it owes.
    pub effects: Vec<Effect>,
    /// What it learned.
    pub status: Option<StatusUpdate>,
}

/// One transaction about events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum EventCommand {
    /// Insert each item into the inbox, where it is not there yet, and its job; a bad one's job is dead. Reply: `Received`.
    Receive {
        /// The items of one delivery.
        items: Vec<Item>,
        /// The asking host's clock.
        now_ms: i64,
        /// When an inbox row may be forgotten (W1).
        expires_ms: i64,
        /// As in `Sweep`.
        sweep_every_ms: i64,
    },
    /// Lease the row that is due for the longest time, of either queue, and count the attempt. Where there are rows whose
    /// last attempt died with its worker, these become dead letters instead (W8), and nothing is leased. Replies: `Leased`,
    /// `Buried` (ask again), `Absent` (none is due).
    Lease {
        /// The asking host's clock.
        now_ms: i64,
        /// When the lease ends.
        lease_end_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
        /// The most attempts of a row.
        attempts: u32,
    },
    /// Prolong a lease (W7). Replies: `Applied`, `Fenced`.
    Heartbeat {
        /// The lease.
        ticket: Ticket,
        /// When it ends from now on.
        lease_end_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
    },
    /// The row is done: a job's effects become outbox rows, and what it learned is written, in the same transaction.
    /// Replies: `Applied`, `Fenced`.
    Complete {
        /// The lease.
        ticket: Ticket,
        /// The asking host's clock.
        now_ms: i64,
        /// When a status may be forgotten.
        expires_ms: i64,
        /// As in `Sweep`.
        sweep_every_ms: i64,
        /// What was done.
        done: Done,
    },
    /// The attempt came to nothing. Replies: `Applied`, `Fenced`.
    Fail {
        /// The lease.
        ticket: Ticket,
        /// The asking host's clock.
        now_ms: i64,
        /// When it is tried again, if it is.
        retry_ms: i64,
        /// What is to come of it.
        failure: Failure,
        /// Why.
        error: String,
    },
    /// Bring a dead row back, once, with the key that it has (W8). Replies: `Applied`, `Absent`, `Event(NotDead)`,
    /// `Event(TooOld)`.
    Redrive {
        /// Of the dead letter.
        id: i64,
        /// The asking host's clock.
        now_ms: i64,
        /// What died before this time stays dead.
        oldest_ms: i64,
    },
    /// Bring the dead rows of a filter back, each as `Redrive` does. Reply: `Redriven`.
    RedriveAll {
        /// Which.
        filter: DeadFilter,
        /// The asking host's clock.
        now_ms: i64,
        /// What died before this time stays dead.
        oldest_ms: i64,
        /// The most to bring back, the oldest first.
        limit: u32,
    },
    /// List the dead letters of a filter, the oldest first. Reply: `Dead`.
    ListDead {
        /// Which.
        filter: DeadFilter,
        /// The most to list.
        limit: u32,
    },
}

/// What is to come of an attempt that came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "then", rename_all = "kebab-case")]
pub enum Failure {
    /// Another attempt, unless this was the last: then the row is a dead letter.
    Retry {
        /// The most attempts of a row.
        attempts: u32,
    },
    /// Another attempt, and this one does not count.
    Postpone,
    /// Sleep. An outbox row until the record of its send is neither `dispatching` nor `unknown`; its attempt does not
    /// count. A job until a record bears the reference that is its event's id, or else until `retry_ms`; its attempt counts,
    /// so that it sleeps once. Where there is nothing to wait for, as `Postpone`.
    Park,
    /// No other attempt: the row is a dead letter.
    Bury,
}

impl Failure {
    /// Whether the row is a dead letter after this attempt, counted from 1.
    #[must_use]
    pub fn is_final(self, attempt: u32) -> bool {
        match self {
            Self::Retry { attempts } => attempt >= attempts,
            Self::Bury => true,
            Self::Postpone | Self::Park => false,
        }
    }
}

impl EventCommand {
    /// What it is called on the wire.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Receive { .. } => "receive",
            Self::Lease { .. } => "lease",
            Self::Heartbeat { .. } => "heartbeat",
            Self::Complete { .. } => "complete",
            Self::Fail { .. } => "fail",
            Self::Redrive { .. } => "redrive",
            Self::RedriveAll { .. } => "redrive-all",
            Self::ListDead { .. } => "list-dead",
        }
    }

    /// The token that its writer bears, where it is fenced by one.
    #[must_use]
    pub fn token(&self) -> Option<i64> {
        match self {
            Self::Heartbeat { ticket, .. } | Self::Complete { ticket, .. } | Self::Fail { ticket, .. } => {
                Some(ticket.token)
            }
            Self::Receive { .. }
            | Self::Lease { .. }
            | Self::Redrive { .. }
            | Self::RedriveAll { .. }
            | Self::ListDead { .. } => None,
        }
    }
}

/// What a transaction about events found or did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "found", rename_all = "kebab-case")]
pub enum EventReply {
    /// The delivery is durably owned.
    Received {
        /// Items that are new and good.
        new: u32,
        /// Items that were there already.
        known: u32,
        /// Items that are new and bad.
        dead: u32,
    },
    /// A row is ours.
    Leased {
        /// The lease.
        ticket: Ticket,
        /// Which attempt this is, from 1.
        attempt: u32,
        /// The row.
        work: Work,
    },
    /// Rows became dead letters.
    Buried {
        /// How many jobs.
        jobs: u32,
        /// How many outbox rows.
        outbox: u32,
    },
    /// It was redriven already, and has not died again.
    NotDead,
    /// It died too long ago.
    TooOld,
    /// What became of the dead rows of a filter.
    Redriven {
        /// How many are ready again.
        ready: u32,
        /// How many stay dead, having died too long ago.
        too_old: u32,
        /// Whether there are more to bring back than were asked for.
        is_cut: bool,
    },
    /// The dead letters.
    Dead {
        /// The oldest first.
        letters: Vec<DeadLetter>,
        /// Whether there are more than were asked for.
        is_cut: bool,
    },
}

impl EventReply {
    /// What it is called on the wire.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Received { .. } => "received",
            Self::Leased { .. } => "leased",
            Self::Buried { .. } => "buried",
            Self::NotDead => "not-dead",
            Self::TooOld => "too-old",
            Self::Redriven { .. } => "redriven",
            Self::Dead { .. } => "dead",
        }
    }
}

/// A row of either queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "kebab-case")]
pub enum Work {
    /// An event to act on.
    Job {
        /// What it is unique in.
        key: EventKey,
        /// What the receiver kept of it.
        payload: String,
    },
    /// A message to send.
    Send {
        /// What the worker wrote.
        effect: Effect,
    },
}
