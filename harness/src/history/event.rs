//! The events of a history, and the history itself.

use std::collections::BTreeMap;

use onceproof_gateway::store::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that invariants are folded over: what was promised, and what happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The first line of the file.
    pub header: Header,
    /// What happened, in order.
    pub entries: Vec<Entry>,
}

/// What a reader must know before the first event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub onceproof_history: u32,
    /// Title of the plan.
    pub title: String,
    /// Profile that played the gateway.
    pub profile: String,
    /// What the provider can do for whoever lost its answer.
    pub ability: Ability,
    /// Seed of the run.
    pub seed: u64,
    /// What the system is held to.
    pub promise: Promise,
    /// How long a provider that takes our key remembers it, from the first request that bore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_retention_ms: Option<u64>,
}

/// What a key is promised, and for how long. The promise of `strict` is the measure of every profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// How long a stored answer is replayed, from the durable definite answer.
    pub ttl_ms: u64,
    /// How long a repetition is refused after that.
    pub tombstone_ms: u64,
    /// How long the id of an event is known, from its receipt (W1).
    #[serde(default = "thirty_days")]
    pub event_ms: u64,
}

/// What `strict` promises, for a history that does not say.
fn thirty_days() -> u64 {
    30 * 24 * 60 * 60 * 1000
}

/// What a provider can do for whoever lost its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ability {
    /// It takes our reference as its own idempotency key: ask again, and it replays.
    Keyed,
    /// It takes no key, but can be asked whether it has a message: "found" settles, "not found" never does.
    Queryable,
    /// It takes no key and cannot be asked, but its statuses bear our reference, which proves the send (W11).
    Echoing,
    /// It takes no key and cannot be asked: what is lost stays unknown.
    Opaque,
}

impl Ability {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Keyed, Self::Queryable, Self::Echoing, Self::Opaque];

    /// Its name as files spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keyed => "keyed",
            Self::Queryable => "queryable",
            Self::Echoing => "echoing",
            Self::Opaque => "opaque",
        }
    }
}

/// One event, when and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// The host where it happened, such as `gateway-1`; `harness` for what the run itself did.
    pub host: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A producer has taken an order: it is durable in the producer's own store (S12).
    Ordered {
        /// The order.
        op: String,
        /// The operations of its steps, in their order.
        ops: Vec<String>,
        /// Whether it had the order already, and changed nothing.
        known: bool,
    },
    /// A producer sends a request.
    Request {
        /// The logical operation, known by the marker in its content.
        op: String,
        /// Number of this request in the run, from 1; its answer carries the same.
        call: u32,
        /// Which attempt of one producer this is, from 1.
        attempt: u32,
        /// The gateway host it is sent to.
        to: String,
        /// What the key is unique in: `{instance}/{canonical route}`.
        scope: String,
        /// The idempotency key, if any.
        key: Option<String>,
        /// Digest of the content after RFC 8785, so that equal content has equal digests.
        content: String,
        /// Whether its token is good for what it asks.
        #[serde(default = "authorized", skip_serializing_if = "is_authorized")]
        authorized: bool,
    },
    /// A producer has the whole answer to a request.
    Response {
        /// The logical operation.
        op: String,
        /// Number of the request.
        call: u32,
        /// HTTP status.
        status: u16,
        /// Whether it bears `X-Idempotent-Replay: true`.
        replay: bool,
        /// The message id in the body, if any.
        message_id: Option<String>,
        /// The problem type in the body, if any, without its prefix, such as `outcome-unknown`.
        problem: Option<String>,
        /// Digest of status, allow-listed headers and body: equal answers have equal digests.
        digest: String,
    },
    /// A producer gives up waiting for the answer to a request.
    NoResponse {
        /// The logical operation.
        op: String,
        /// Number of the request.
        call: u32,
        /// Why, such as `timeout`, `connection refused`, `connection reset`.
        reason: String,
    },
    /// A producer's retries are used up without a definite answer.
    GaveUp {
        /// The logical operation.
        op: String,
    },
    /// The provider acted: the message goes out. Written by the provider's ledger.
    Effect {
        /// The logical operation, by the marker in the content.
        op: String,
        /// How many effects this operation has had, this one included.
        nth: u32,
        /// Our reference, if the request bore one.
        reference: Option<String>,
        /// The provider's id of the message.
        message_id: String,
    },
    /// A producer, or a worker before it tries again, asked what became of a message (S11).
    LookUp {
        /// The logical operation.
        op: String,
        /// What the message was asked for by: `id`, `reference` or `key`.
        by: String,
        /// HTTP status; none if there was no answer.
        status: Option<u16>,
        /// What the message is said to be, such as `sent` or `unknown`.
        says: Option<String>,
    },
    /// An operator settles an unknown message.
    Resolve {
        /// The logical operation.
        op: String,
        /// What the operator vouches for: `sent` or `not-sent`.
        verdict: String,
        /// HTTP status; none if there was no answer.
        status: Option<u16>,
        /// The problem type in the answer, if any.
        problem: Option<String>,
    },
    /// An operator brings a dead letter back (W8).
    Redrive {
        /// The event.
        op: String,
        /// HTTP status; none if there was no answer, or nothing to bring back.
        status: Option<u16>,
        /// The problem type in the answer, if any.
        problem: Option<String>,
    },
    /// An operator brings back all dead letters that a filter means (W8).
    RedriveAll {
        /// The filter, in words.
        filter: String,
        /// HTTP status; none if there was no answer.
        status: Option<u16>,
        /// How many came back.
        redriven: u32,
        /// How many stay dead, having died too long ago.
        too_old: u32,
        /// The problem type in the answer, if any.
        problem: Option<String>,
    },
    /// The provider is asked whether it has a message.
    Query {
        /// The reference that it is asked for.
        reference: String,
        /// Whether it has it.
        found: bool,
    },
    /// The plan tells the provider to think long before it answers.
    ProviderStalls {
        /// The logical operation.
        op: String,
        /// Number of the request at the provider, from 1.
        request: u32,
        /// Our reference, if the request bore one.
        reference: Option<String>,
        /// How long it thinks.
        for_ms: u64,
    },
    /// The provider answers a request.
    ProviderAnswer {
        /// The logical operation.
        op: String,
        /// Number of the request at the provider, from 1.
        request: u32,
        /// Our reference, if the request bore one.
        reference: Option<String>,
        /// HTTP status.
        status: u16,
        /// The idempotency key that the request bore, if any.
        key: Option<String>,
        /// Whether it repeated the answer of an earlier request with the same key, without acting.
        replay: bool,
        /// Whether the plan told it to answer so, against the truth.
        scripted: bool,
    },
    /// A store executed a transaction. Written where it was executed.
    Store {
        /// Which store: `database`, or the memory of one incarnation of a gateway, such as `gateway-1/2`.
        /// Tokens of different stores have nothing to do with each other.
        store: String,
        /// The command, such as `claim`, `mark`, `done`, `unknown`, `release`, `fence`, `begin-ask`.
        command: String,
        /// `{instance}/{canonical route}` of the record.
        scope: String,
        /// The key of the record.
        key: String,
        /// The token that the writer bears, where the command has one.
        token: Option<i64>,
        /// The token that was given out: by a claim, a fence, or a settle lease.
        granted: Option<i64>,
        /// The reply, such as `claimed`, `applied`, `fenced`, `meets`, `mismatch`, `absent`, `ask`.
        reply: String,
        /// Where the record stands afterwards, if it is known.
        state: Option<State>,
        /// The reference that the command bears, where it has one.
        reference: Option<String>,
    },
    /// The provider delivers a webhook (W1).
    Delivery {
        /// Name of the event, or of the batch; of a status, the operation whose message it is about.
        op: String,
        /// The events that it bears, by their names.
        ops: Vec<String>,
        /// What it says of a message of ours, if that is what it is about.
        status: Option<String>,
        /// Number of the request; no two deliveries or requests of a run share one.
        call: u32,
        /// Which attempt of its sender this is, from 1.
        attempt: u32,
        /// The gateway that it is sent to.
        to: String,
        /// Whether its signature is that of these bytes, made with the secret (W2).
        signed: bool,
    },
    /// The provider has the whole answer to a delivery.
    DeliveryAnswer {
        /// As in the delivery.
        op: String,
        /// Number of the delivery.
        call: u32,
        /// HTTP status.
        status: u16,
        /// The problem type in the body, if any, without its prefix, such as `bad-signature`.
        problem: Option<String>,
    },
    /// A store made a delivery its own, or found that it had it already (W5).
    Received {
        /// Which store, as in [`Event::Store`].
        store: String,
        /// The events that were delivered, by their markers.
        ops: Vec<String>,
        /// How many were new and good.
        new: u32,
        /// How many were there already.
        known: u32,
        /// How many were new and bad: dead letters at once (W4).
        dead: u32,
    },
    /// A store did something with a row that waits for a worker (W7).
    Job {
        /// Which store, as in [`Event::Store`].
        store: String,
        /// The event, by its marker, where that is known.
        op: Option<String>,
        /// Which queue the row waits in: `job` for the event, `outbox` for its effect.
        queue: String,
        /// The row.
        id: i64,
        /// What was done with it, such as `leased`, `heartbeat`, `completed`, `retried`, `parked`, `buried`, `redriven`; with
        /// ` (fenced)` after it where a stale worker was turned away.
        what: String,
        /// Which attempt it is, where that is known.
        attempt: Option<u32>,
        /// The token of the lease.
        token: Option<i64>,
        /// The scope of its send, where it has one.
        scope: Option<String>,
        /// The key of its send, where it has one.
        key: Option<String>,
    },
    /// A worker whose queue is no store of ours sends what an event asks for (W7).
    WorkerSend {
        /// The event, by its marker.
        op: String,
        /// Which attempt this is, from 1.
        attempt: u32,
        /// The scope of the send.
        scope: String,
        /// Its key.
        key: String,
    },
    /// A dead letter, or an operation that a producer gave up, as it stands at the end (W8).
    DeadLetter {
        /// The event or the operation, by its marker.
        op: String,
        /// Why it was given up.
        why: String,
    },
    /// A named point was reached by the program under test.
    Point {
        /// Its name.
        point: String,
        /// How often this host has reached it, this time included.
        nth: u32,
    },
    /// A fault strikes.
    Fault {
        /// Number of the fault in the plan, from 1.
        fault: u32,
        /// The kind of fault, as plans spell it, such as `crash` or `lose_commits`.
        kind: String,
        /// What it does, in words.
        what: String,
        /// The hosts that it touches.
        hosts: Vec<String>,
    },
    /// A fault ends: a cut heals, a host restarts or thaws, a delayed message arrives.
    FaultEnds {
        /// Number of the fault in the plan, from 1.
        fault: u32,
        /// What ends, in words.
        what: String,
    },
    /// A process starts on a host.
    Start {
        /// How often it has started, this time included.
        incarnation: u32,
    },
    /// A process that was told to stop has ended by itself.
    Exit,
    /// All faults are healed; liveness is judged after the stated bound.
    Healed,
    /// The records were looked through at the end: those that follow are all there are.
    Inspected,
    /// A record as it stands at the end.
    Record {
        /// `{instance}/{canonical route}`.
        scope: String,
        /// The key.
        key: String,
        /// Where it stands.
        state: State,
        /// Status of the stored answer, if it has one.
        status: Option<u16>,
        /// The reference of its claim, if it has one.
        reference: Option<String>,
        /// How long ago it should have been swept or asked about, in milliseconds; none if it is not due.
        overdue_ms: Option<u64>,
    },
    /// What somebody has counted by the end of the run, each metric summed over its labels (M1). What is 0 is left out.
    Metrics {
        /// Whose: a gateway host, whose counts are those of the process that runs there last, as a crash forgets them; or a
        /// store, as in [`Event::Store`].
        of: String,
        /// By name.
        values: BTreeMap<String, u64>,
    },
    /// The run is over: the bound after the heal has passed.
    End {
        /// Faults of the plan that never struck.
        idle_faults: Vec<u32>,
    },
}

impl History {
    /// The entries of one kind, with their place in the history.
    pub fn indexed(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate()
    }

    /// How many faults struck.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry.event, Event::Fault { .. })).count()
    }

    /// How many effects each operation had.
    #[must_use]
    pub fn effects(&self) -> BTreeMap<&str, u32> {
        let mut effects = BTreeMap::new();
        for entry in &self.entries {
            if let Event::Effect { op, .. } = &entry.event {
                *effects.entry(op.as_str()).or_default() += 1;
            }
        }
        effects
    }
}

/// What a history says of a request by saying nothing.
fn authorized() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_authorized(authorized: &bool) -> bool {
    *authorized
}
