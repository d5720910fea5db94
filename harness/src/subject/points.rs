//! The places where dying matters that only systems on a Redis have.

/// The id of a message is marked as seen; nothing is queued.
pub const AFTER_SET_NX: &str = "after-set-nx";
/// A job has failed for the last time and is kept as failed; its dead letter is not written.
pub const BEFORE_DEAD_LETTER: &str = "before-dead-letter";

/// All of them.
pub const POINTS: &[&str] = &[AFTER_SET_NX, BEFORE_DEAD_LETTER];
