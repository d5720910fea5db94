//! The scenarios that are part of the binary, and those of a directory.

use std::path::Path;
use std::{fs, io};

use include_dir::{Dir, File, include_dir};

use super::PlanError;
use super::parse::{FILE_BYTES_MAX, too_large};

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../scenarios");

/// In which order the scenarios are told: a line each, `#` begins a chapter.
const ORDER: &str = "order.txt";

/// The scenarios that are part of the binary, with name and text, from the plain to the cruel. One that the order does
/// not name comes last.
#[must_use]
pub fn embedded() -> Vec<(String, String)> {
    let text = |file: &File<'_>| file.contents_utf8().unwrap_or_default().to_owned();
    let order = EMBEDDED.get_file(ORDER).map(text).unwrap_or_default();
    let place = |name: &str| order.lines().position(|line| line.trim() == name).unwrap_or(usize::MAX);
    let mut scenarios: Vec<(String, String)> = EMBEDDED
        .files()
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "toml"))
        .map(|file| {
            let name = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (name, text(file))
        })
        .collect();
    scenarios.sort_by_cached_key(|(name, _)| (place(name), name.clone()));
    scenarios
}

/// The scenarios of a directory, in the order of their names: name and text of every `*.toml` in it, not in
/// directories below.
///
/// # Errors
/// A directory or file that cannot be read or is too large, and a directory without scenarios.
pub fn load_dir(directory: &Path) -> Result<Vec<(String, String)>, PlanError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| cannot_read(directory, &error))? {
        let path = entry.map_err(|error| cannot_read(directory, &error))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let message = format!("there is no scenario in {}", directory.display());
        return Err(PlanError::without_source(message).help("a scenario is a file that ends in `.toml`"));
    }
    paths.sort();
    paths.iter().map(|path| load(path)).collect()
}

fn load(path: &Path) -> Result<(String, String), PlanError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = fs::metadata(path).map_err(|error| cannot_read(path, &error))?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(too_large(&path.display().to_string(), bytes));
    }
    let source = fs::read_to_string(path).map_err(|error| cannot_read(path, &error))?;
    Ok((name, source))
}

fn cannot_read(path: &Path, error: &io::Error) -> PlanError {
    PlanError::without_source(format!("cannot read {}: {error}", path.display()))
}
