//! One run on `turmoil::Sim`.

use super::{director::Director, refusal};
use crate::sim::engine::{CannotPlay, Cost, Engine, Play};

/// Plays a run on `turmoil::Sim`, tick by tick, jumping over quiet time.
#[derive(Debug, Clone, Copy, Default)]
pub struct TurmoilEngine;

impl Engine for TurmoilEngine {
    fn play(&self, play: &Play) -> Result<Cost, CannotPlay> {
        if cfg!(not(tokio_unstable)) {
            return Err(CannotPlay::unseeded());
        }
        refusal::look(&play.stage.faults())?;
        Director::new(play).run()
    }
}
