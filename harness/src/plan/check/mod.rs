//! Checks of what a scenario means, after its text was understood.

use super::places::Places;
use super::{PlanError, Scenario};

pub(super) fn all(
    _name: &str,
    _source: &str,
    _scenario: &Scenario,
    _places: &Places<'_>,
) -> Result<(), PlanError> {
    Ok(())
}
