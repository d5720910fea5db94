//! Every check, in the order of the file.

use super::{File, expect, faults, head, orders, steps};
use crate::plan::{PlanError, Scenario};

/// Finds the first mistake in what a scenario means.
pub(in crate::plan) fn all(file: &File<'_>, scenario: &Scenario) -> Result<(), PlanError> {
    head::check(file, scenario)?;
    steps::check(file, scenario)?;
    orders::check(file, scenario)?;
    faults::check(file, scenario)?;
    expect::check(file, scenario)
}
