//! From the text of a scenario file to a scenario, or to a mistake that is shown in its place.

use super::places::Places;
use super::{PlanError, Scenario, check};

/// A larger file is not a story.
const FILE_BYTES_MAX: usize = 256 * 1024;

impl Scenario {
    /// Reads a scenario file. `name` is what its mistakes are shown under.
    ///
    /// # Errors
    /// The first mistake, with its place and what was meant: text that is no TOML, a field that is unknown,
    /// missing or of the wrong kind, a name that means nothing in this world, a limit that is passed.
    pub fn parse(name: &str, source: &str) -> Result<Self, PlanError> {
        if source.len() > FILE_BYTES_MAX {
            return Err(PlanError::without_source(format!(
                "{name} has {} bytes, and a scenario file may have {FILE_BYTES_MAX}",
                source.len()
            )));
        }
        let scenario: Self =
            toml::from_str(source).map_err(|error| translate(name, source, &error))?;
        check::all(name, source, &scenario, &Places::of(source))?;
        Ok(scenario)
    }
}

fn translate(name: &str, source: &str, error: &toml::de::Error) -> PlanError {
    PlanError::new(name, source, error.message()).at(error.span(), "here")
}
