//! Proves, or breaks, one promise: *a key acts once*.
//!
//! A [`plan`] says what one run does: a world, its steps, its faults, a seed. [`run`] plays it in the
//! [`sim`]ulation against a [`subject`] and writes a [`history`]; the [`invariants`] are folded over that, and
//! the result is a [`verdict`], which [`report`] shows.

pub mod allocator;
pub mod cli;
pub mod exit;
pub mod explain;
pub mod history;
pub mod invariants;
pub mod matrix;
pub mod mutants;
pub mod plan;
pub mod report;
pub mod run;
pub mod signals;
pub mod sim;
pub mod subject;
pub mod verdict;
