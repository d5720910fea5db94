//! The host `redis`: enough of a Redis for what coordinates through one, and every way in which it lets them down.
//!
//! Its memory lives outside the host, so a plan says what a restart leaves of it. Time is the host's clock. The suite
//! in `tests/redis_contract/` holds it against a real one: where the two differ, this one is wrong.

mod commands;
mod glob;
mod handshake;
mod keyspace;
mod memory;
mod resp;
mod server;
mod session;
mod sorted;

pub use commands::bullmq as scripts_of_bullmq;
pub use server::{HOST, Redis};
