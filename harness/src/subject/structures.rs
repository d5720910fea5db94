//! What a system that has no policy may decide otherwise than its text: only an explanation asks for it.

use super::{express_pg, meta_redis, zap};

/// The decisions of each such system; by default those of its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Structures {
    /// Of text A's receiver.
    pub meta_redis: meta_redis::Decisions,
    /// Of text B's receiver and worker.
    pub zap: zap::Decisions,
    /// Of text C's receiver, in either reading.
    pub express_pg: express_pg::Decisions,
}
