//! A cell that was played with other decisions.

use serde::{Deserialize, Serialize};

use super::{
    decision::{Decision, Set, otherwise, plays_as_strict},
    price::Price,
};
use crate::{
    matrix::{Cell, Fate},
    plan::STRICT,
    run::{RunError, run_with},
    sim::engine::Engine,
};

/// What became of it: small enough to be passed between processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The place of the cell in the order of all.
    pub number: usize,
    /// Its fate.
    pub fate: Fate,
    /// What it cost.
    pub price: Price,
}

/// Plays a cell with the decisions of this set.
///
/// # Errors
/// As [`run_with`].
pub fn attempt(
    number: usize,
    cell: &Cell,
    decisions: &[Decision],
    set: &Set,
    seed: u64,
    engine: &dyn Engine,
) -> Result<Trial, RunError> {
    let otherwise = otherwise(decisions, set);
    let plan = match plays_as_strict(decisions, set) {
        true => Cell { profile: STRICT.into(), ..cell.clone() }.plan(seed),
        false => cell.plan(seed),
    };
    let outcome = run_with(&otherwise.over(plan), engine, otherwise.options())?;
    Ok(Trial { number, fate: Fate::of(&outcome.verdict), price: Price::of(&outcome) })
}
