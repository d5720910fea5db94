//! The scenarios that are part of the binary, and those of a directory.

use std::path::Path;

use super::{PlanError, Scenario};

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
pub fn embedded() -> &'static [(&'static str, &'static str)] {
    EMBEDDED
}

/// The scenarios of a directory, in the order of their names: every `*.toml` in it, not in directories
/// below.
///
/// # Errors
/// A directory or file that cannot be read, a directory without scenarios, and the first mistake in a file.
pub fn load_dir(directory: &Path) -> Result<Vec<(String, Scenario)>, PlanError> {
    let cannot_read = |path: &Path, error: &dyn std::fmt::Display| {
        PlanError::without_source(format!("cannot read {}: {error}", path.display()))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(|error| cannot_read(directory, &error))? {
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
    let load = |path: &std::path::PathBuf| {
        let source = std::fs::read_to_string(path).map_err(|error| cannot_read(path, &error))?;
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok((name, Scenario::parse(&path.display().to_string(), &source)?))
    };
    paths.iter().map(load).collect()
}
