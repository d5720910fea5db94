//! From the text of a scenario file to a scenario, or to a mistake that is shown in its place.

use super::places::{Place, Places};
use super::{PlanError, Scenario, check, meant};

/// A larger file is not a story.
pub(super) const FILE_BYTES_MAX: u64 = 256 * 1024;

impl Scenario {
    /// Reads a scenario file. `name` is what its mistakes are shown under.
    ///
    /// # Errors
    /// The first mistake, with its place and what was meant: text that is no TOML, a field that is unknown,
    /// missing or of the wrong kind, a name that means nothing in this world, a limit that is passed.
    pub fn parse(name: &str, source: &str) -> Result<Self, PlanError> {
        let bytes = source.len() as u64;
        if bytes > FILE_BYTES_MAX {
            return Err(too_large(name, bytes));
        }
        let file = check::File {
            name,
            source,
            places: Places::of(source),
        };
        check::expectation_keys(&file)?;
        let scenario: Self = toml::from_str(source).map_err(|error| translate(&file, &error))?;
        check::all(&file, &scenario)?;
        Ok(scenario)
    }
}

/// The mistake of a file that is too large to be shown.
pub(super) fn too_large(name: &str, bytes: u64) -> PlanError {
    PlanError::without_source(format!(
        "{name} has {bytes} bytes, and a scenario file may have {FILE_BYTES_MAX}"
    ))
}

/// Says what serde and toml say, and what was meant.
fn translate(file: &check::File<'_>, error: &toml::de::Error) -> PlanError {
    let (message, meant) = reword(error.message());
    // What is missing in the whole file is shown at its first line, not over all of it.
    let span = error.span().filter(|span| span.len() < file.source.len());
    let span = span.or_else(|| file.places.value(&Place::root().key("title")));
    let error = PlanError::new(file.name, file.source, message).at(span, "here");
    match meant {
        Some(meant) => error.help(meant),
        None => error,
    }
}

/// Our own types put what was meant on a second line; serde lists what it knows after "expected".
fn reword(message: &str) -> (String, Option<String>) {
    if let Some((wrong, meant)) = message.split_once('\n') {
        return (wrong.into(), Some(meant.into()));
    }
    for (kind, shown) in [
        ("unknown field", "unknown field"),
        ("unknown variant", "unknown word"),
    ] {
        if let Some((name, known)) = message
            .strip_prefix(kind)
            .and_then(|rest| rest.strip_prefix(" `"))
            .and_then(|rest| rest.split_once("`, expected "))
        {
            let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
            return (
                format!("{shown} `{name}`"),
                Some(meant::one_of(name, &known)),
            );
        }
    }
    if message.starts_with("missing field") {
        return (message.into(), Some("add it: it has no default".into()));
    }
    let Some((wrong, expected)) = message.split_once(", expected ") else {
        return (message.into(), None);
    };
    let expected = match expected {
        "u16" | "u32" | "u64" => "a whole number, not below 0",
        "a boolean" => "`true` or `false`",
        other => other,
    };
    (wrong.into(), Some(format!("expected {expected}")))
}
