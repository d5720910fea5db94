//! Which plans a command plays.

use super::{args::RunArgs, failure::Failure};
use crate::{
    mutants::{self, Mutant},
    plan::{self, Plan, Scenario},
};

/// The plans of the named scenarios, or of all.
pub fn plans(args: &RunArgs) -> Result<Vec<Plan>, Failure> {
    let sources = match &args.scenarios {
        Some(folder) => plan::load_dir(folder).map_err(Failure::input)?,
        None => plan::embedded(),
    };
    for name in &args.names {
        if !sources.iter().any(|(known, _)| known == name) {
            let known: Vec<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
            return Err(Failure::unknown("scenario", name, &known));
        }
    }
    check_profile(args)?;
    let profile = match &args.mutant {
        Some(_) => Some(plan::STRICT),
        None => args.profile.as_deref(),
    };
    let wanted = |name: &String| args.names.is_empty() || args.names.contains(name);
    let mut plans = Vec::new();
    for (name, source) in sources.iter().filter(|(name, _)| wanted(name)) {
        let scenario = Scenario::parse(&shown(args, name), source).map_err(Failure::input)?;
        plans.extend(scenario.expand(name, args.seed, profile));
    }
    Ok(plans)
}

/// The file that a mistake is shown in.
fn shown(args: &RunArgs, name: &str) -> String {
    match &args.scenarios {
        Some(folder) => folder.join(format!("{name}.toml")).display().to_string(),
        None => format!("scenarios/{name}.toml"),
    }
}

fn check_profile(args: &RunArgs) -> Result<(), Failure> {
    match &args.profile {
        Some(profile) if !plan::PROFILES.contains(&profile.as_str()) => {
            Err(Failure::unknown("profile", profile, &plan::PROFILES))
        }
        _ => Ok(()),
    }
}

/// Every plan of `strict`.
pub fn strict_plans(seed: u64) -> Result<Vec<Plan>, Failure> {
    embedded_plans(seed, Some(plan::STRICT))
}

/// Every plan of every profile.
pub fn every_plan(seed: u64) -> Result<Vec<Plan>, Failure> {
    embedded_plans(seed, None)
}

fn embedded_plans(seed: u64, profile: Option<&str>) -> Result<Vec<Plan>, Failure> {
    let mut plans = Vec::new();
    for (name, source) in plan::embedded() {
        let scenario = Scenario::parse(&name, &source).map_err(Failure::input)?;
        plans.extend(scenario.expand(&name, seed, profile));
    }
    Ok(plans)
}

/// The named mutants, or all.
pub fn wanted_mutants(names: &[String]) -> Result<Vec<&'static Mutant>, Failure> {
    if names.is_empty() {
        return Ok(mutants::ALL.iter().collect());
    }
    names.iter().map(|name| wanted_mutant(name)).collect()
}

/// The mutant of this name.
pub fn wanted_mutant(name: &str) -> Result<&'static Mutant, Failure> {
    let known: Vec<&str> = mutants::ALL.iter().map(|mutant| mutant.name).collect();
    mutants::find(name).ok_or_else(|| Failure::unknown("mutant", name, &known))
}
