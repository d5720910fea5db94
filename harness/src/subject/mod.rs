//! What is under test.

mod reference;

pub use reference::ReferenceGateway;

use onceproof_gateway::world::{BoxFuture, SharedWorld};

use crate::history::Event;

/// A system whose keys are said to act once: what runs on the hosts `gateway-1` and on.
pub trait Subject: Send + Sync + 'static {
    /// The process on one of its hosts, begun anew at each start of that host.
    fn process(&self, host: &str, world: SharedWorld) -> BoxFuture<()>;

    /// Its records as they stand, as [`Event::Record`]s.
    fn records(&self) -> Vec<Event>;
}
