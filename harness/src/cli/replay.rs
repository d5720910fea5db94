//! `replay`: one plan file again, and whether what it broke still breaks.

use std::fs;

use super::{
    again::{command_line, engine_words},
    args::ReplayArgs,
    entry::engine,
    failure::Failure,
    output::Output,
};
use crate::{
    exit,
    plan::Plan,
    report::evidence::Story,
    run::{Outcome, run},
};

/// Plays the plan, and answers FIXED or STILL FAILS.
pub fn command(args: &ReplayArgs, output: &mut Output) -> Result<u8, Failure> {
    let plan = plan(args)?;
    let outcome = run(&plan, &*engine(args.engine)).map_err(Failure::run)?;
    if outcome.verdict.broken().is_some() {
        output.line(story(args, &plan, &outcome))?;
    }
    output.line(format!("verdict {}", outcome.verdict))?;
    for reading in outcome.verdict.raised() {
        output.line(reading)?;
    }
    output.line(format!("digest {}", outcome.digest))?;
    let code = outcome.verdict.exit_code();
    output.line(match code {
        exit::AS_EXPECTED => "FIXED",
        exit::INCONCLUSIVE => "INCONCLUSIVE: neither fixed nor failing, the plan did not test what it says",
        _ => "STILL FAILS",
    })?;
    Ok(code)
}

fn plan(args: &ReplayArgs) -> Result<Plan, Failure> {
    let path = args.plan.display().to_string();
    let source = fs::read_to_string(&args.plan)
        .map_err(|error| Failure::input_says(format!("cannot read {path}: {error}")))?;
    let mut plan = Plan::parse(&path, &source).map_err(Failure::input)?;
    if let Some(seed) = args.seed {
        plan.scenario.world.seed = Some(seed);
    }
    Ok(plan)
}

fn story(args: &ReplayArgs, plan: &Plan, outcome: &Outcome) -> String {
    let title = format!("{} · {} · {} provider", plan.scenario.title, plan.profile(), plan.ability().name());
    let mut words = vec!["replay".to_owned(), args.plan.display().to_string()];
    words.extend(args.seed.map(|seed| format!("--seed={seed}")));
    words.extend(engine_words(args.engine));
    let again = command_line(&words);
    let (history, verdict) = (&outcome.history, &outcome.verdict);
    Story { title: &title, notes: &[], history, verdict, again: &again, legend: true }.text()
}
