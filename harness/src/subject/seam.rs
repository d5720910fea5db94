//! What a system under test offers to a run.

use onceproof_gateway::world::{BoxFuture, SharedWorld};

use crate::{history::Event, sim::actors::postgres::Postgres};

/// A system whose keys are said to act once: what runs on the hosts `gateway-1` and on.
pub trait Subject: Send + Sync + 'static {
    /// The process on one of its hosts, begun anew at each start of that host.
    fn process(&self, host: &str, world: SharedWorld) -> BoxFuture<()>;

    /// Tells the process on `host` to stop. Whether it listens: one that does ends by itself, when it is done, and any other
    /// dies at once, as SIGTERM does to a process that does not handle it.
    fn stop(&self, host: &str) -> bool {
        let _ = host;
        false
    }

    /// From its next start on, the process on `host` runs with these policy fields: another release.
    fn upgrade(&self, host: &str, policy: &toml::Table);

    /// What runs on the host `database`, if it brings a database of its own in place of the shared store.
    fn database(&self) -> Option<&Postgres> {
        None
    }

    /// Whether it wants the shared store, too, beside its own database.
    fn has_store_beside(&self) -> bool {
        false
    }

    /// Its records as they stand at `now_ms` after the run began, as [`Event::Record`]s.
    fn records(&self, now_ms: u64) -> Vec<Event>;

    /// What its processes and stores have counted by then, as [`Event::Metrics`]; nothing, if it counts nothing (M1).
    fn metrics(&self, now_ms: u64) -> Vec<Event>;
}
