//! The scenarios that are part of the binary, and those of a directory.

use std::path::Path;
use std::{fs, io};

use super::PlanError;
use super::parse::{FILE_BYTES_MAX, too_large};

/// The scenarios in the order in which they are told: from the plain to the cruel.
const EMBEDDED: &[(&str, &str)] = &[
    (
        "first-send",
        include_str!("../../../scenarios/first-send.toml"),
    ),
    (
        "sequential-replay",
        include_str!("../../../scenarios/sequential-replay.toml"),
    ),
    ("lost-200", include_str!("../../../scenarios/lost-200.toml")),
    (
        "lost-request",
        include_str!("../../../scenarios/lost-request.toml"),
    ),
    (
        "concurrent-duplicates-one-gateway",
        include_str!("../../../scenarios/concurrent-duplicates-one-gateway.toml"),
    ),
    (
        "concurrent-duplicates-two-gateways",
        include_str!("../../../scenarios/concurrent-duplicates-two-gateways.toml"),
    ),
    (
        "crash-between-send-and-respond-silent",
        include_str!("../../../scenarios/crash-between-send-and-respond-silent.toml"),
    ),
    (
        "crash-between-send-and-respond-loud",
        include_str!("../../../scenarios/crash-between-send-and-respond-loud.toml"),
    ),
    (
        "crash-before-dispatch",
        include_str!("../../../scenarios/crash-before-dispatch.toml"),
    ),
    (
        "late-retry-before-ttl",
        include_str!("../../../scenarios/late-retry-before-ttl.toml"),
    ),
    (
        "late-retry-after-ttl",
        include_str!("../../../scenarios/late-retry-after-ttl.toml"),
    ),
    (
        "late-retry-day-30",
        include_str!("../../../scenarios/late-retry-day-30.toml"),
    ),
    (
        "late-retry-day-32",
        include_str!("../../../scenarios/late-retry-day-32.toml"),
    ),
    (
        "other-content",
        include_str!("../../../scenarios/other-content.toml"),
    ),
    (
        "provider-500-after-effect",
        include_str!("../../../scenarios/provider-500-after-effect.toml"),
    ),
    (
        "frozen-gateway-wakes-after-lease",
        include_str!("../../../scenarios/frozen-gateway-wakes-after-lease.toml"),
    ),
    (
        "delayed-mark",
        include_str!("../../../scenarios/delayed-mark.toml"),
    ),
];

/// The scenarios that are part of the binary: name and text of each, from the plain to the cruel.
#[must_use]
pub fn embedded() -> Vec<(String, String)> {
    let owned = |&(name, source): &(&str, &str)| (name.to_owned(), source.to_owned());
    EMBEDDED.iter().map(owned).collect()
}

/// The scenarios of a directory, in the order of their names: name and text of every `*.toml` in it, not in
/// directories below.
///
/// # Errors
/// A directory or file that cannot be read or is too large, and a directory without scenarios.
pub fn load_dir(directory: &Path) -> Result<Vec<(String, String)>, PlanError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| cannot_read(directory, &error))? {
        let path = entry
            .map_err(|error| cannot_read(directory, &error))?
            .path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let message = format!("there is no scenario in {}", directory.display());
        return Err(
            PlanError::without_source(message).help("a scenario is a file that ends in `.toml`")
        );
    }
    paths.sort();
    paths.iter().map(|path| load(path)).collect()
}

fn load(path: &Path) -> Result<(String, String), PlanError> {
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let bytes = fs::metadata(path)
        .map_err(|error| cannot_read(path, &error))?
        .len();
    if bytes > FILE_BYTES_MAX {
        return Err(too_large(&path.display().to_string(), bytes));
    }
    let source = fs::read_to_string(path).map_err(|error| cannot_read(path, &error))?;
    Ok((name, source))
}

fn cannot_read(path: &Path, error: &io::Error) -> PlanError {
    PlanError::without_source(format!("cannot read {}: {error}", path.display()))
}
