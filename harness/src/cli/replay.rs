//! `replay`: one plan file again, and whether what it expects now holds.

use std::fs;

use super::{args::ReplayArgs, entry::engine, failure::Failure};
use crate::{exit, plan::Plan, report::evidence::violations, run::run};

/// Plays the plan, and answers FIXED or STILL FAILS.
pub fn command(args: &ReplayArgs) -> Result<u8, Failure> {
    let path = args.plan.display().to_string();
    let source = fs::read_to_string(&args.plan)
        .map_err(|error| Failure::input_says(format!("cannot read {path}: {error}")))?;
    let mut plan = Plan::parse(&path, &source).map_err(Failure::input)?;
    if let Some(seed) = args.seed {
        plan.scenario.world.seed = Some(seed);
    }
    let outcome = run(&plan, &*engine(args.engine)).map_err(Failure::input)?;
    let again = format!("onceproof replay {path}");
    let verdict = &outcome.verdict;
    if verdict.broken().is_some() {
        println!("{}", violations(&plan.scenario.title, &outcome.history, verdict, &again));
    }
    println!("verdict {verdict}");
    println!("digest {}", outcome.digest);
    let code = verdict.exit_code();
    println!("{}", if code == exit::AS_EXPECTED { "FIXED" } else { "STILL FAILS" });
    Ok(code)
}
