//! The named points of a send and of an event: the places where dying, freezing or being cut off matters.
//!
//! In production [`crate::world::World::reach`] does nothing at them. Scenarios name them.

/// The key's claim is not yet asked of the store.
pub const BEFORE_CLAIM: &str = "before-claim";
/// The claim is durable; nothing has been marked.
pub const AFTER_CLAIM: &str = "after-claim";
/// The `dispatching` mark is durable; nothing has left for the provider.
pub const AFTER_MARK: &str = "after-mark";
/// The connection to the provider is open; the next thing is to compare the clock with the send deadline.
pub const BEFORE_DISPATCH: &str = "before-dispatch";
/// The clock was compared; the next thing is the first byte.
pub const AT_FIRST_BYTE: &str = "at-first-byte";
/// The provider's answer (or none) is in hand; nothing is recorded.
pub const AFTER_DISPATCH: &str = "after-dispatch";
/// The outcome is durable; the caller knows nothing yet.
pub const AFTER_RECORD: &str = "after-record";
/// A re-ask is durably begun; nothing has left for the provider.
pub const BEFORE_REASK: &str = "before-reask";
/// The answer to a re-ask is in hand; nothing is recorded.
pub const AFTER_REASK: &str = "after-reask";
/// A query's settle lease is ours; nothing was asked.
pub const BEFORE_QUERY: &str = "before-query";
/// The answer to a query is in hand; nothing is recorded.
pub const AFTER_QUERY: &str = "after-query";

/// A webhook is authentic and parsed; nothing is asked of the store.
pub const BEFORE_RECEIVE: &str = "before-receive";
/// Its inbox rows and jobs are durable; no hint is set, and its sender knows nothing.
pub const AFTER_RECEIVE: &str = "after-receive";
/// The hint is set; the next thing is the 200.
pub const BEFORE_ACK: &str = "before-ack";
/// A job is leased; nothing is done.
pub const AFTER_LEASE: &str = "after-lease";
/// The job's effects are known; nothing is written.
pub const BEFORE_COMPLETE: &str = "before-complete";
/// The effects are in the outbox and the job is gone.
pub const AFTER_COMPLETE: &str = "after-complete";
/// An outbox row is leased; its send is not begun.
pub const BEFORE_OUTBOX_SEND: &str = "before-outbox-send";
/// The send has its answer; the row does not know it.
pub const AFTER_OUTBOX_SEND: &str = "after-outbox-send";
/// What became of the send is written in the row.
pub const AFTER_OUTBOX_RECORD: &str = "after-outbox-record";
/// A lease is about to be prolonged.
pub const BEFORE_HEARTBEAT: &str = "before-heartbeat";
/// The attempt failed; its retry, or its dead letter, is not written.
pub const BEFORE_FAIL: &str = "before-fail";

/// Every point, in the order in which a send, and then an event, meets them.
pub const ALL: &[&str] = &[
    BEFORE_CLAIM,
    AFTER_CLAIM,
    AFTER_MARK,
    BEFORE_DISPATCH,
    AT_FIRST_BYTE,
    AFTER_DISPATCH,
    AFTER_RECORD,
    BEFORE_REASK,
    AFTER_REASK,
    BEFORE_QUERY,
    AFTER_QUERY,
    BEFORE_RECEIVE,
    AFTER_RECEIVE,
    BEFORE_ACK,
    AFTER_LEASE,
    BEFORE_COMPLETE,
    AFTER_COMPLETE,
    BEFORE_OUTBOX_SEND,
    AFTER_OUTBOX_SEND,
    AFTER_OUTBOX_RECORD,
    BEFORE_HEARTBEAT,
    BEFORE_FAIL,
];
