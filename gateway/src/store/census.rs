//! How much of what there is in a store, for whoever watches it (M1).

use serde::{Deserialize, Serialize};

/// What a store holds that somebody may have to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Census {
    /// Records that are unknown.
    pub unknown: u32,
    /// Events that wait for a worker.
    pub jobs: Rows,
    /// Sends that are owed.
    pub outbox: Rows,
}

/// The rows of one queue, by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rows {
    /// Due, now or later.
    pub ready: u32,
    /// In a worker's hands.
    pub leased: u32,
    /// Asleep until something else happens.
    pub parked: u32,
    /// Given up.
    pub dead: u32,
}
