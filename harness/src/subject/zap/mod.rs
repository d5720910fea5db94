//! Text B's four stages: a receiver that marks ids in Redis, BullMQ, a worker with a deterministic key, and the gateway that it
//! sends through, which is the reference gateway with the policy `zap`.
//!
//! Its receiver reads envelopes of one event with an id at the top; see [`readable`].

mod decisions;
mod envelope;
mod receiver;
mod sending;
mod system;

pub use decisions::Decisions;
pub use envelope::{can_read, readable};
pub use system::Zap;
