//! The seam between a run and the network it is played on.

use std::sync::Arc;

use onceproof_gateway::world::{BoxFuture, SharedWorld};
use serde::Serialize;

use super::{action::Change, stage::Stage};

/// What each host runs.
pub trait Cast: Send + Sync + 'static {
    /// The program of `host`, begun anew at each start.
    fn program(&self, host: &str, world: SharedWorld) -> BoxFuture<()>;

    /// Tells the program of `host` to stop. Whether it listens: one that does ends by itself, when it is done.
    fn stop(&self, host: &str) -> bool {
        let _ = host;
        false
    }

    /// Something changes behind the network.
    fn change(&self, change: &Change);

    /// Called once, when the bound after the heal has passed: write what stands at the end into the history.
    fn curtain(&self, now_ms: u64);
}

/// One run as an engine sees it.
pub struct Play {
    /// Names of the hosts. Their order decides nothing: an engine shuffles it by the seed.
    pub hosts: Vec<String>,
    /// Decides the engine's own choices.
    pub seed: u64,
    /// Where faults come from and the history goes.
    pub stage: Arc<Stage>,
    /// What the hosts run.
    pub cast: Arc<dyn Cast>,
    /// How long after the heal liveness is judged.
    pub bound_ms: u64,
}

/// What a run cost, in counts that are the same on every machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Turns of the engine's loop.
    pub iterations: u64,
    /// Packets put on the wire.
    pub packets: u64,
    /// Messages put on the wire: HTTP heads with their bodies, store frames.
    pub messages: u64,
    /// Simulated time.
    pub simulated_ms: u64,
}

/// Something that plays a run.
pub trait Engine {
    /// Plays it to its end.
    ///
    /// # Errors
    /// Names what this engine cannot play.
    fn play(&self, play: &Play) -> Result<Cost, CannotPlay>;
}

/// A run that an engine cannot play.
#[derive(Debug, thiserror::Error)]
#[error("this engine cannot play it: {0}")]
pub struct CannotPlay(pub String);

impl CannotPlay {
    /// Why a binary whose tokio cannot be seeded plays nothing.
    pub(super) fn unseeded() -> Self {
        Self(
            "this binary was built without `--cfg tokio_unstable`, so tokio's own choices cannot be seeded; build it \
             from the repository's root, where .cargo/config.toml sets the flag, and with RUSTFLAGS unset or \
             containing it"
                .into(),
        )
    }
}
