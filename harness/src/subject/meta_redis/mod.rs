//! Text A's receiver of WhatsApp webhooks, with its faults: `SET NX` in Redis, BullMQ, dead letters in a second queue.
//!
//! It remembers nothing outside Redis. What the text leaves open is decided as its libraries decide it.

mod decisions;
mod processing;
mod receiver;
mod system;

pub use decisions::Decisions;
pub use system::MetaRedis;
