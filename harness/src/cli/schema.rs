//! `schema`: the scenario format for editors and other programs.

use super::{failure::Failure, output::Output};
use crate::{exit, plan};

/// Prints it.
pub fn command(output: &mut Output) -> Result<u8, Failure> {
    output.line(plan::schema().trim_end())?;
    Ok(exit::AS_EXPECTED)
}
