//! Proves, or breaks, one promise: *a key acts once*.

pub mod history;
pub mod invariants;
pub mod plan;
pub mod verdict;
