//! `run`: every cell of every scenario, what needs a look with its evidence, and one table.

use super::{
    again::{command_line, engine_words},
    args::{Format, RunArgs},
    entry::engine,
    failure::Failure,
    files,
    output::Output,
    scenarios::{plans, wanted_mutant},
};
use crate::{
    plan::Plan,
    report::{
        json::json,
        played::{Played, exit_code, plan_name},
        text::text,
    },
    run::{Options, Outcome, run_with},
};

/// Plays, prints, and gives the exit code.
pub fn command(args: &RunArgs, output: &mut Output) -> Result<u8, Failure> {
    let plans = plans(args)?;
    if let Some(out) = &args.out {
        files::prepare(out)?;
    }
    let played = play(args, plans)?;
    if let Some(out) = &args.out {
        for cell in &played {
            files::write(out, cell)?;
        }
    }
    match args.format {
        Format::Text if played.is_empty() => output.line(nothing_ran(args))?,
        Format::Text => output.line(text(&played))?,
        Format::Json => output.line(json(&played))?,
    }
    Ok(exit_code(&played))
}

fn play(args: &RunArgs, plans: Vec<Plan>) -> Result<Vec<Played>, Failure> {
    let engine = engine(args.engine);
    let mutant = args.mutant.as_deref().map(wanted_mutant).transpose()?;
    let options = Options { mutant, ..Options::default() };
    let mut played = Vec::with_capacity(plans.len());
    for plan in plans {
        let outcome = run_with(&plan, &*engine, options)
            .map_err(|error| Failure::run(error).about(&plan_name(&plan)))?;
        let again = again(args, &plan, &outcome);
        played.push(Played::new(plan, outcome, again));
    }
    Ok(played)
}

fn nothing_ran(args: &RunArgs) -> String {
    let profile = args.profile.as_deref().unwrap_or("this profile");
    format!("nothing ran: none of these scenarios is for {profile}\nexit code 4: nothing ran")
}

/// A broken promise is replayed from its plan, if that is written: it breaks also when the scenario is edited.
fn again(args: &RunArgs, plan: &Plan, outcome: &Outcome) -> String {
    let plan_file = args.out.as_ref().map(|out| files::plan(out, plan));
    let mut words = match plan_file {
        Some(file) if outcome.verdict.broken().is_some() && args.mutant.is_none() => {
            vec!["replay".into(), file.display().to_string()]
        }
        _ => run_words(args, plan),
    };
    words.extend(engine_words(args.engine));
    command_line(&words)
}

fn run_words(args: &RunArgs, plan: &Plan) -> Vec<String> {
    let mut words: Vec<String> =
        ["run", &plan.name, "--profile", plan.profile(), "--seed", &plan.seed().to_string()]
            .map(str::to_owned)
            .to_vec();
    if let Some(mutant) = &args.mutant {
        words.extend(["--mutant".into(), mutant.clone()]);
    }
    if let Some(folder) = &args.scenarios {
        words.extend(["--scenarios".into(), folder.display().to_string()]);
    }
    words
}
