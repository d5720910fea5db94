//! A message gateway in which an idempotency key acts once.
//!
//! The send protocol (`strict`) and the systems that differ from it ([`policy::Policy`]) are one piece of
//! code, which runs on real sockets and in a simulation alike: everything from outside comes through
//! [`world::World`].

pub mod points;
pub mod store;
pub mod world;
