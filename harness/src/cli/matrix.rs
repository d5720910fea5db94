//! `matrix`: every way to hurt every workload at every place, for every profile.

use super::{
    again::command_line,
    args::{Format, MatrixArgs},
    failure::Failure,
    output::Output,
    workers,
};
use crate::{
    exit,
    matrix::{Cell, Otherwise, Played, Workload, cells, play},
    plan::{self, STRICT},
    report::{evidence::Story, matrix as report},
    run::run,
    sim::event::EventEngine,
};

/// Plays, prints, and gives the exit code.
pub fn command(args: &MatrixArgs, output: &mut Output) -> Result<u8, Failure> {
    let profiles = profiles(args)?;
    let (workloads, as_it_is) = (workloads(args.workload.as_deref())?, Otherwise::default());
    let cells = cells(&profiles, &workloads, args.subject_blind, &as_it_is, args.seed, &EventEngine)
        .map_err(Failure::run)?;
    if let Some(name) = &args.cell {
        return one(name, &cells, args, output);
    }
    if let Some(share) = args.share {
        for (number, cell) in cells.iter().enumerate().filter(|(number, _)| share.has(*number)) {
            let played = play(number, cell, args.seed, &EventEngine)
                .map_err(|error| Failure::run(error).about(&cell.to_string()))?;
            output.line(serde_json::to_string(&played).unwrap_or_default())?;
        }
        return Ok(exit::AS_EXPECTED);
    }
    let played = spread(args, cells.len())?;
    match args.format {
        Format::Text => {
            output.line(report::text(&cells, &played, (!args.brief).then_some(again as report::Again)))?
        }
        Format::Json => output.line(report::json(&cells, &played, again))?,
    }
    Ok(exit_code(&cells, &played))
}

fn profiles(args: &MatrixArgs) -> Result<Vec<&str>, Failure> {
    match &args.profile {
        None => Ok(plan::PROFILES.to_vec()),
        Some(profile) if plan::PROFILES.contains(&profile.as_str()) => Ok(vec![profile]),
        Some(profile) => Err(Failure::unknown("profile", profile, &plan::PROFILES)),
    }
}

/// The workload of this name; all, if none is named.
pub fn workloads(name: Option<&str>) -> Result<Vec<Workload>, Failure> {
    match name {
        None => Ok(Workload::ALL.to_vec()),
        Some(name) => match Workload::named(name) {
            Some(workload) => Ok(vec![workload]),
            None => Err(Failure::unknown("workload", name, &Workload::ALL.map(Workload::name))),
        },
    }
}

/// The results of all workers, in the order of the cells.
fn spread(args: &MatrixArgs, cells: usize) -> Result<Vec<Played>, Failure> {
    let mut words: Vec<String> = vec!["matrix".into(), "--seed".into(), args.seed.to_string()];
    if let Some(profile) = &args.profile {
        words.extend(["--profile".into(), profile.clone()]);
    }
    if let Some(workload) = &args.workload {
        words.extend(["--workload".into(), workload.clone()]);
    }
    if args.subject_blind {
        words.push("--subject-blind".into());
    }
    let lines = workers::lines_of_all(&words, workers::cores())?;
    let mut played: Vec<Played> =
        lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>().map_err(
            |error: serde_json::Error| Failure::input_says(format!("a worker printed no result: {error}")),
        )?;
    played.sort_by_key(|played| played.number);
    match played.len() {
        count if count == cells => Ok(played),
        count => Err(Failure::input_says(format!("the workers played {count} of {cells} cells"))),
    }
}

/// One cell with its story.
fn one(name: &str, cells: &[Cell], args: &MatrixArgs, output: &mut Output) -> Result<u8, Failure> {
    let Some(cell) = cells.iter().find(|cell| cell.to_string() == name) else {
        return Err(Failure::input_says(format!(
            "there is no cell `{name}`: a cell is written workload/profile/ability/hurt/place/retry, as `matrix` prints it"
        )));
    };
    let plan = cell.plan(args.seed);
    let outcome = run(&plan, &EventEngine).map_err(Failure::run)?;
    let title = format!("{} · {} · {} provider", plan.variant, cell.profile, cell.ability.name());
    let (notes, verdict) = ([format!("verdict: {}", outcome.verdict)], &outcome.verdict);
    let again = again(cell);
    let story = Story {
        title: &title,
        notes: &notes,
        history: &outcome.history,
        verdict,
        again: &again,
        legend: true,
    };
    output.line(story.text())?;
    if let Some(out) = &args.out {
        let text =
            plan.to_toml().map_err(|error| Failure::input_says(format!("cannot write the plan: {error}")))?;
        std::fs::write(out, text)
            .map_err(|error| Failure::io(format!("cannot write {}", out.display()), &error))?;
        output.line(format!("   plan: {}", out.display()))?;
    }
    Ok(verdict.exit_code())
}

fn again(cell: &Cell) -> String {
    command_line(&["matrix", "--profile", &cell.profile, "--cell", &cell.to_string()])
}

/// The others are there to be broken; `strict` is not, and what it gives up in front of an opaque provider is unknown, not
/// broken.
fn exit_code(cells: &[Cell], played: &[Played]) -> u8 {
    let bad =
        cells.iter().zip(played).filter(|(cell, played)| cell.profile == STRICT && played.fate.is_bad());
    match bad.count() {
        0 if cells.is_empty() => exit::INCONCLUSIVE,
        0 => exit::AS_EXPECTED,
        _ => exit::SAFETY,
    }
}
