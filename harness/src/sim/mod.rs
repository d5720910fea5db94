//! The simulation: hosts, network, time, chance and faults, all from one seed.

pub mod action;
pub mod actors;
pub mod cast;
pub mod chance;
pub(crate) mod clock;
pub mod digest;
pub mod engine;
pub mod event;
pub mod marker;
pub mod stage;
pub mod turmoil;
pub mod wire;
