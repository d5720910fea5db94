//! `mutants`: every planted mistake against every scenario of `strict`, and `strict` itself beside them.

use super::{
    again::command_line,
    args::{Format, MutantsArgs},
    failure::Failure,
    output::Output,
    scenarios::{every_plan, strict_plans, wanted_mutants},
};
use crate::{
    exit,
    mutants::{Deeds, Hunted, Mutant, hunt},
    plan::Plan,
    report::{mutants as report, played::plan_name},
    run::run,
    sim::event::EventEngine,
};

/// Plays, prints, and gives the exit code.
pub fn command(args: &MutantsArgs, output: &mut Output) -> Result<u8, Failure> {
    let plans = strict_plans(args.seed)?;
    let mut hunted = Vec::new();
    for mutant in wanted_mutants(&args.names)? {
        hunted.push(hunt(mutant, &plans, &EventEngine).map_err(Failure::run)?);
    }
    if let Some(scenario) = &args.without {
        return without(scenario, &hunted, args, output);
    }
    let mut unclean = Vec::new();
    for plan in &plans {
        let outcome = run(plan, &EventEngine).map_err(Failure::run)?;
        if outcome.verdict.violated().next().is_some() {
            unclean.push(plan_name(plan));
        }
    }
    match args.format {
        Format::Text => output.line(report::text(&hunted, &plans, &unclean, again).map_err(Failure::run)?)?,
        Format::Json => output.line(report::json(&hunted, &unclean))?,
    }
    Ok(exit_code(&hunted, &unclean))
}

/// What nobody would see without a scenario, or without each of them.
fn without(
    scenario: &str,
    hunted: &[Hunted],
    args: &MutantsArgs,
    output: &mut Output,
) -> Result<u8, Failure> {
    let plans = every_plan(args.seed)?;
    let mut names: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
    names.dedup();
    if !scenario.is_empty() {
        if !names.contains(&scenario) {
            return Err(Failure::unknown("scenario", scenario, &names));
        }
        names = vec![scenario];
    }
    let deeds = Deeds::of(hunted, &plans, &EventEngine).map_err(Failure::run)?;
    let worths: Vec<_> = names.into_iter().map(|name| (name, deeds.worth(name))).collect();
    match args.format {
        Format::Text => output.line(report::worths(&worths))?,
        Format::Json => output.line(report::worths_json(&worths))?,
    }
    Ok(exit::AS_EXPECTED)
}

fn again(mutant: &Mutant, plan: &Plan) -> String {
    let seed = plan.seed().to_string();
    command_line(&["run", &plan.name, "--mutant", mutant.name, "--seed", &seed])
}

/// `strict` broken weighs most; then a mutant that nobody saw.
fn exit_code(hunted: &[Hunted], unclean: &[String]) -> u8 {
    let is_blind = hunted.iter().any(|hunted| hunted.by_invariant().next().is_none());
    match (unclean.is_empty(), is_blind) {
        (false, _) => exit::SAFETY,
        (true, true) => exit::EXPECTED_FAILURE_MISSING,
        (true, false) => exit::AS_EXPECTED,
    }
}
