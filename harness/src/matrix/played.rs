//! A cell that was played.

use serde::{Deserialize, Serialize};

use super::{Cell, Fate};
use crate::{
    run::{RunError, run},
    sim::engine::Engine,
};

/// What became of a cell: enough for a grid, and small enough to be passed between processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Played {
    /// Its place in the order of all cells.
    pub number: usize,
    /// Its fate.
    pub fate: Fate,
    /// The invariants that are broken.
    pub invariants: Vec<String>,
    /// How long the run took in simulated time, in milliseconds.
    pub simulated_ms: u64,
}

/// Plays a cell.
///
/// # Errors
/// As [`run`].
pub fn play(number: usize, cell: &Cell, seed: u64, engine: &dyn Engine) -> Result<Played, RunError> {
    let outcome = run(&cell.plan(seed), engine)?;
    let invariants = outcome.verdict.violated().map(|judged| judged.name.to_owned()).collect();
    let fate = Fate::of(&outcome.verdict);
    Ok(Played { number, fate, invariants, simulated_ms: outcome.cost.simulated_ms })
}
