//! Checks of policy fields that a plan sets over those of a profile.

use onceproof_gateway::{
    policy::{Policy, PolicyError},
    producer::ProducerPolicy,
};

use super::File;
use crate::plan::places::Place;
use crate::plan::{PlanError, meant, names};

/// Tries each field alone, so that a mistake is shown at its field. The profiles have the same fields.
pub(super) fn check(file: &File<'_>, place: &Place, fields: &toml::Table) -> Result<(), PlanError> {
    each(file, place, fields, |alone| Policy::profile_with(names::PROFILES[0], alone).map(drop))
}

/// As [`check`], of a producer's policy. How it waits and retries is said beside it.
pub(super) fn check_producer(file: &File<'_>, place: &Place, fields: &toml::Table) -> Result<(), PlanError> {
    if let Some(name) = ["timeout", "retry"].into_iter().find(|name| fields.contains_key(*name)) {
        return Err(file
            .mistaken_key(&place.key(name), format!("`{name}` is no part of `policy` here"))
            .help(format!("write it beside: `producer = {{ {name} = …, policy = … }}`")));
    }
    each(file, place, fields, |alone| ProducerPolicy::profile_with(names::PROFILES[0], alone).map(drop))
}

fn each(
    file: &File<'_>,
    place: &Place,
    fields: &toml::Table,
    read: impl Fn(&toml::Table) -> Result<(), PolicyError>,
) -> Result<(), PlanError> {
    for (name, value) in fields {
        let alone: toml::Table = [(name.clone(), value.clone())].into_iter().collect();
        if let Err(error) = read(&alone) {
            return Err(mistake(file, &place.key(name), name, &error));
        }
    }
    Ok(())
}

fn mistake(file: &File<'_>, place: &Place, name: &str, error: &PolicyError) -> PlanError {
    let message = match error {
        PolicyError::Malformed(error) => error.message().to_owned(),
        other => other.to_string(),
    };
    // Only this very field can be the unknown one; a table in a field may have unknown fields of its own.
    if let Some(known) = message.strip_prefix(&format!("unknown field `{name}`, expected one of ")) {
        let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        return file
            .mistaken_key(place, format!("unknown policy field `{name}`"))
            .help(meant::one_of(name, &known));
    }
    file.mistake(place, format!("`{name}` cannot be so: {message}"))
        .help("write it as a profile does: a period as a text with its unit, such as `\"30s\"`")
}
