//! What can be asked of a store: each [`Command`] is one transaction, executed whole.
//!
//! The states of a record are none → `claimed` → `dispatching` → `done` or `unknown`;
//! `done` → (TTL) → `tombstone` → none. Every time is the asking host's wall clock in milliseconds:
//! SQL never asks the database for the time.

use serde::{Deserialize, Serialize};

use super::{Census, Delivery, EventCommand, EventReply};

/// What a key is unique in, and the key: one tenant's key never meets another's (S9).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// `{instance}/{canonical route}`, such as `loja-1/messages/text`. Never the token, which rotates.
    pub scope: String,
    /// The idempotency key, unquoted.
    pub key: String,
}

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// A claim holds the key; nothing has been handed to the provider.
    Claimed,
    /// The request may be on its way.
    Dispatching,
    /// Whether the request acted cannot be told (yet).
    Unknown,
    /// A definite answer is stored and replayed.
    Done,
    /// The message was sent; its answer is no longer kept.
    Tombstone,
}

/// The answer that a repetition gets again (S2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAnswer {
    /// HTTP status.
    pub status: u16,
    /// Allow-listed headers, lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body, which is JSON text.
    pub body: String,
    /// The provider's id of the message, where there is one.
    pub message_id: Option<String>,
}

/// A record as a repetition meets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Where the record stands now, expiry already taken into account.
    pub state: State,
    /// The claim that owns it (random, hexadecimal).
    pub claim_id: String,
    /// Its fencing token.
    pub token: i64,
    /// Our reference, drawn with the mark.
    pub reference: Option<String>,
    /// The stored answer of a `done` record.
    pub answer: Option<StoredAnswer>,
    /// The provider's id, which a tombstone keeps.
    pub message_id: Option<String>,
}

/// One transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Insert a claim where there is no record; take over a `claimed` one whose lease is out; turn a
    /// `dispatching` one whose lease is out into `unknown`; else tell what is there.
    /// Replies: `Claimed`, `Absent` (only if not `admissible`), `Mismatch`, `Meets`.
    Claim {
        /// The key.
        slot: Slot,
        /// Scheme and digest of the content, such as `jcs1:9f…`.
        fingerprint: String,
        /// Drawn anew for each claim.
        claim_id: String,
        /// The asking host's clock.
        now_ms: i64,
        /// When this claim's lease ends.
        lease_end_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
        /// How long a tombstone refuses after the TTL; 0 where the policy knows no tombstones.
        tombstone_ms: i64,
        /// Whether the request is valid: validation counts for a fresh claim only.
        admissible: bool,
        /// Whether a record that becomes `unknown` may be asked about.
        askable: bool,
    },
    /// Mark the claim `dispatching`, fenced by the token. Replies: `Applied`, `Fenced`.
    Mark {
        /// The key.
        slot: Slot,
        /// Our claim's token.
        token: i64,
        /// The asking host's clock, kept as the time of the first dispatch.
        now_ms: i64,
        /// When the lease ends from now on: a claim that was marked late must not become `unknown` while its own
        /// dispatch is in time. A lease never gets shorter.
        lease_end_ms: i64,
        /// Our reference, the same for every ask of this claim.
        reference: String,
        /// The exact outbound request, kept until settled.
        request: String,
    },
    /// Proof of success: `dispatching` or `unknown` with this reference becomes `done`, whoever holds the
    /// lease. Replies: `Applied` (also where it was done with this message already), `Fenced`.
    Done {
        /// The key.
        slot: Slot,
        /// The reference of the claim that was proved.
        reference: String,
        /// The asking host's clock: the TTL runs from here.
        now_ms: i64,
        /// When the stored answer expires.
        expires_ms: i64,
        /// As in `Sweep`.
        sweep_every_ms: i64,
        /// What repetitions get.
        answer: StoredAnswer,
    },
    /// The dispatch of this claim ended ambiguously. Replies: `Applied`, `Fenced`.
    Unknown {
        /// The key.
        slot: Slot,
        /// Our claim's token.
        token: i64,
        /// The asking host's clock.
        now_ms: i64,
        /// When the provider may be asked again; none where it cannot be.
        next_ask_ms: Option<i64>,
    },
    /// Nothing was sent, or the provider definitely refused: back to none, fenced by the token and only
    /// while no re-ask was ever begun, tested in the same statement. Replies: `Applied`, `Fenced`.
    Release {
        /// The key.
        slot: Slot,
        /// Our claim's token.
        token: i64,
        /// The asking host's clock.
        now_ms: i64,
    },
    /// The fencing write that resolves an ambiguous COMMIT: gives the claim a new token, conditional on the
    /// claim id; a settled one keeps its own. Replies: `Meets` (with the token), `Fenced` (another claim's), `Absent`.
    Fence {
        /// The key.
        slot: Slot,
        /// Our claim.
        claim_id: String,
        /// The asking host's clock.
        now_ms: i64,
    },
    /// Read what is there, expiry taken into account. Replies: `Meets`, `Absent`.
    Read {
        /// The key.
        slot: Slot,
        /// The asking host's clock.
        now_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
        /// As in `Claim`.
        tombstone_ms: i64,
    },
    /// Take the settle lease of one `unknown` record that is due to be asked about, and write durably that a
    /// re-ask was begun. Replies: `Ask`, `Absent` (none is due).
    BeginAsk {
        /// The asking host's clock.
        now_ms: i64,
        /// When the settle lease ends.
        settle_lease_end_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
        /// Only records first dispatched at this time or later: older ones the provider may have forgotten.
        first_dispatch_at_or_after_ms: i64,
        /// Earlier requests begun before this time are dead: no trace of them can still arrive.
        dead_before_ms: i64,
    },
    /// Take the settle lease of one `unknown` record that is due to be asked about, by a query. A query sends nothing
    /// that can act: it is no re-ask, and keeps no claim from its release. Replies: `Query`, `Absent` (none is due).
    BeginQuery {
        /// The asking host's clock.
        now_ms: i64,
        /// When the settle lease ends.
        settle_lease_end_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
    },
    /// A re-ask was definitely refused while every earlier request was dead: back to none, fenced by the
    /// settle token. Replies: `Applied`, `Fenced`.
    ReleaseAsked {
        /// The key.
        slot: Slot,
        /// The token of the settle lease.
        settle_token: i64,
        /// The asking host's clock.
        now_ms: i64,
    },
    /// A re-ask or a query told nothing: give the settle lease back and try again later. Replies: `Applied`, `Fenced`.
    AskLater {
        /// The key.
        slot: Slot,
        /// The token of the settle lease.
        settle_token: i64,
        /// The asking host's clock.
        now_ms: i64,
        /// When to ask again; none gives up asking.
        next_ask_ms: Option<i64>,
    },
    /// Do without a repetition what the table of states says: `claimed` past its lease → none, `dispatching`
    /// past its lease → `unknown`, expired `done` → `tombstone`, expired tombstone → none. Reply: `Swept`.
    Sweep {
        /// The asking host's clock.
        now_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
        /// How long a tombstone refuses after the TTL.
        tombstone_ms: i64,
        /// Whether a record that becomes `unknown` may be asked about.
        askable: bool,
        /// What has expired is due for a sweep at the next multiple of this, so that one sweep serves many records
        /// (S5). At least 1.
        sweep_every_ms: i64,
    },
    /// Look a record up without its content (S11). Replies: `Found`, `Absent`.
    Find {
        /// By what it is known.
        sought: Sought,
        /// Whose it may be: another's counts as absent.
        whose: Whose,
        /// The asking host's clock.
        now_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
        /// As in `Claim`.
        tombstone_ms: i64,
    },
    /// Settle an `unknown` by the operator's word, fenced by its reference. Replies: `Applied`, `TooEarly`, `Fenced`
    /// (it is not, or no longer, unknown), `Absent`.
    Resolve {
        /// The key.
        slot: Slot,
        /// The reference of the claim that the operator speaks of.
        reference: String,
        /// The asking host's clock.
        now_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
        /// The operator's word.
        word: Word,
    },
    /// List the records that are unknown, the oldest first. Reply: `Unknowns`.
    ListUnknown {
        /// The asking host's clock.
        now_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
        /// The most records to list.
        limit: u32,
    },
    /// Count what is unknown, what waits and what is dead. Reply: `Counted`.
    Census {
        /// The asking host's clock.
        now_ms: i64,
        /// A lease is out only at its end plus this.
        skew_ms: i64,
        /// Each count ends here.
        limit: u32,
    },
    /// About an event.
    Event(EventCommand),
}

/// By what a record is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Sought {
    /// By its key.
    Key {
        /// The key.
        slot: Slot,
    },
    /// By our reference, or else by the provider's id.
    Message {
        /// Either.
        id: String,
    },
}

/// Whose records count in a look-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "whose", rename_all = "kebab-case")]
pub enum Whose {
    /// Everybody's: the asker may see the key, or is the operator.
    Anybodys,
    /// Messages of these instances.
    Of {
        /// Their ids.
        instances: Vec<String>,
    },
    /// Whatever is not a message of these instances: the account's, which owns the others.
    NotOf {
        /// Their ids.
        instances: Vec<String>,
    },
}

/// What an operator says of an `unknown`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "kebab-case")]
pub enum Word {
    /// It was sent: the record becomes `done`.
    Sent {
        /// When the stored answer expires.
        expires_ms: i64,
        /// As in `Sweep`.
        sweep_every_ms: i64,
        /// What repetitions get.
        answer: StoredAnswer,
    },
    /// It was not, nor can it be any more: back to none. Refused while a request may be alive.
    NotSent {
        /// How long after it was begun a request may be alive.
        dead_after_ms: i64,
    },
}

impl Command {
    /// The record that it is about, where it names one.
    #[must_use]
    pub fn slot(&self) -> Option<&Slot> {
        match self {
            Self::Claim { slot, .. }
            | Self::Mark { slot, .. }
            | Self::Done { slot, .. }
            | Self::Unknown { slot, .. }
            | Self::Release { slot, .. }
            | Self::Fence { slot, .. }
            | Self::Read { slot, .. }
            | Self::ReleaseAsked { slot, .. }
            | Self::AskLater { slot, .. }
            | Self::Resolve { slot, .. } => Some(slot),
            Self::BeginAsk { .. }
            | Self::BeginQuery { .. }
            | Self::Sweep { .. }
            | Self::Find { .. }
            | Self::ListUnknown { .. }
            | Self::Census { .. }
            | Self::Event(_) => None,
        }
    }

    /// The token that its writer bears, where it is fenced by one.
    #[must_use]
    pub fn token(&self) -> Option<i64> {
        match self {
            Self::Mark { token, .. } | Self::Unknown { token, .. } | Self::Release { token, .. } => {
                Some(*token)
            }
            Self::ReleaseAsked { settle_token, .. } | Self::AskLater { settle_token, .. } => {
                Some(*settle_token)
            }
            Self::Event(command) => command.token(),
            _ => None,
        }
    }

    /// Our reference, where it bears one.
    #[must_use]
    pub fn reference(&self) -> Option<&str> {
        match self {
            Self::Mark { reference, .. } | Self::Done { reference, .. } | Self::Resolve { reference, .. } => {
                Some(reference)
            }
            _ => None,
        }
    }
}

/// What a transaction found or did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum Reply {
    /// The key is ours.
    Claimed {
        /// Never used before, by any claim, in this store.
        token: i64,
    },
    /// The key has a record of other content.
    Mismatch {
        /// Where that record stands.
        state: State,
    },
    /// The key has a record of the same content.
    Meets {
        /// That record.
        view: View,
    },
    /// There is no record.
    Absent,
    /// Written.
    Applied,
    /// Not written: the writer's claim, lease or reference is no longer the record's.
    Fenced {
        /// What is there instead, if anything.
        view: Option<View>,
    },
    /// The settle lease is ours, and the re-ask is written down.
    Ask {
        /// The key.
        slot: Slot,
        /// The reference to ask with.
        reference: String,
        /// The stored request.
        request: String,
        /// Fences the negatives of this re-ask.
        settle_token: i64,
        /// How many re-asks were begun, this one included.
        asks: u32,
        /// Whether every earlier request was dead when the lease was taken, so that a refusal settles.
        alone: bool,
    },
    /// The settle lease is ours, and nothing else was written: a query may go out.
    Query {
        /// The key.
        slot: Slot,
        /// The reference to ask for.
        reference: String,
        /// The stored request, which says where to ask.
        request: String,
        /// Fences what this query does not find.
        settle_token: i64,
        /// How many queries were begun, this one included.
        queries: u32,
        /// When the last request that can act was begun, in its writer's clock.
        last_request_ms: i64,
    },
    /// The record that was looked up.
    Found {
        /// Its key.
        slot: Slot,
        /// What it says.
        view: View,
        /// How far the message has come, if a status said so (W11).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delivery: Option<Delivery>,
    },
    /// A request may still be alive.
    TooEarly {
        /// When none is any more.
        earliest_ms: i64,
    },
    /// The records that are unknown.
    Unknowns {
        /// The oldest first.
        records: Vec<Unsettled>,
        /// Whether there are more than were asked for.
        is_cut: bool,
    },
    /// The sweep is done.
    Swept {
        /// Claims that were abandoned before their mark.
        released: Vec<Slot>,
        /// Dispatches that became `unknown`.
        unknown: Vec<Slot>,
        /// Answers that became tombstones.
        expired: Vec<Slot>,
        /// Tombstones that are gone.
        forgotten: Vec<Slot>,
    },
    /// What was counted.
    Counted {
        /// All of it.
        census: Census,
    },
    /// About an event.
    Event(EventReply),
}

/// An unknown record, as the operator sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsettled {
    /// Its key.
    pub slot: Slot,
    /// Our reference.
    pub reference: String,
    /// When its first request was begun.
    pub since_ms: i64,
    /// When its last request that can act was begun.
    pub last_request_ms: i64,
}

/// A reply with what the store knows of the future.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What the transaction found or did.
    #[serde(flatten)]
    pub reply: Reply,
    /// The earliest time at which a sweep or a re-ask has something to do, in the clock of the writers.
    pub next_due_ms: Option<i64>,
    /// The earliest time at which a worker has something to do. Apart from the other: who works need not sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_work_ms: Option<i64>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreError {
    /// The command was never handed to the store.
    #[error("the store cannot be reached: {0}")]
    Unreached(String),
    /// The command may or may not have been executed, now or later.
    #[error("the store did not answer: {0}")]
    Ambiguous(String),
    /// The store executed nothing and says why.
    #[error("the store refused: {0}")]
    Refused(String),
}

/// A store: one transaction at a time, each whole.
pub trait Store: Send + Sync + 'static {
    /// Executes one command. Waits no longer than the store's own limit.
    fn execute(&self, command: Command) -> crate::world::BoxFuture<Result<Answer, StoreError>>;
}
