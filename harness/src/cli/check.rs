//! `check`: a history from anywhere, judged.

use std::{fs::File, io::BufReader};

use super::{again::command_line, args::CheckArgs, failure::Failure, output::Output};
use crate::{
    history::{self, History},
    report::evidence::Story,
    verdict,
};

/// Reads, judges, and gives the exit code.
pub fn command(args: &CheckArgs, output: &mut Output) -> Result<u8, Failure> {
    let path = args.history.display().to_string();
    let history = read(args, &path)?;
    let verdict = verdict::judge(&history);
    if verdict.broken().is_some() {
        let (title, again) = (&history.header.title, command_line(&["check", &path]));
        let story =
            Story { title, notes: &[], history: &history, verdict: &verdict, again: &again, legend: true };
        output.line(story.text())?;
    }
    for reading in verdict.raised() {
        output.line(reading)?;
    }
    output.line(format!("verdict {verdict}"))?;
    Ok(verdict.exit_code())
}

fn read(args: &CheckArgs, path: &str) -> Result<History, Failure> {
    let file = File::open(&args.history)
        .map_err(|error| Failure::input_says(format!("cannot read {path}: {error}")))?;
    history::read(BufReader::new(file)).map_err(|error| Failure::input_says(format!("{path}: {error}")))
}
