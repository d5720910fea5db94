//! The named points of an order: the places where a producer's death matters.

/// The keys are made; nothing is written.
pub const BEFORE_PERSIST: &str = "before-persist";
/// The order and its keys are durable; nothing is queued.
pub const AFTER_PERSIST: &str = "after-persist";
/// The job is in the queue; whoever placed the order knows nothing yet.
pub const AFTER_ENQUEUE: &str = "after-enqueue";
/// A worker has the key in hand; nothing has left for the gateway.
pub const BEFORE_ATTEMPT: &str = "before-attempt";
/// The gateway's answer (or none) is in hand; nothing is written.
pub const BEFORE_RECORD: &str = "before-record";

/// Every point, in the order in which an order meets them.
pub const ALL: &[&str] = &[BEFORE_PERSIST, AFTER_PERSIST, AFTER_ENQUEUE, BEFORE_ATTEMPT, BEFORE_RECORD];
