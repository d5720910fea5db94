//! The named points of a send: the places where dying, freezing or being cut off matters.
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

/// Every point, in the order in which a send meets them.
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
];
