//! `check`: a history from anywhere, judged.

use std::{fs::File, io::BufReader};

use super::{args::CheckArgs, failure::Failure};
use crate::{history, report::evidence::violations, verdict};

/// Reads, judges, and gives the exit code.
pub fn command(args: &CheckArgs) -> Result<u8, Failure> {
    let path = args.history.display().to_string();
    let file = File::open(&args.history)
        .map_err(|error| Failure::input_says(format!("cannot read {path}: {error}")))?;
    let history = history::read(BufReader::new(file))
        .map_err(|error| Failure::input_says(format!("{path}: {error}")))?;
    let verdict = verdict::judge(&history);
    if verdict.broken().is_some() {
        let again = format!("onceproof check {path}");
        println!("{}", violations(&history.header.title, &history, &verdict, &again));
    }
    println!("verdict {verdict}");
    Ok(verdict.exit_code())
}
