//! A message gateway in which an idempotency key acts once.
//!
//! The send protocol (`strict`) and the systems that differ from it ([`policy::Policy`]) are one piece of
//! code, which runs on real sockets and in a simulation alike: everything from outside comes through
//! [`world::World`].

mod alarm;
pub mod client;
mod domain_key;
pub mod fingerprint;
pub mod gateway;
pub mod hex;
pub mod hint;
pub mod http;
pub mod inbound;
pub mod key;
mod ledger;
mod message;
pub mod metrics;
pub mod points;
pub mod policy;
pub mod producer;
pub mod provider;
pub mod real;
pub mod redis_hint;
mod send;
mod shutdown;
pub mod signals;
pub mod spool;
pub mod store;
mod sweeper;
#[cfg(test)]
mod testing;
mod work;
pub mod world;
