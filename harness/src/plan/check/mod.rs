//! Checks of what a scenario means, after its text was understood.

mod deliveries;
mod expect;
mod faults;
mod file;
mod head;
mod policy;
mod redis_faults;
mod run_all;
mod steps;

pub(super) use expect::expectation_keys;
pub(super) use file::File;
pub(super) use run_all::all;
