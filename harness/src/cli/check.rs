//! `check`: a history from anywhere, judged.

use std::{fs::File, io::BufReader};

use super::{args::CheckArgs, failure::Failure};
use crate::{exit, history::History, report::evidence::violations, verdict};

/// Reads, judges, and gives the exit code.
pub fn command(args: &CheckArgs) -> Result<u8, Failure> {
    let path = args.history.display().to_string();
    let file = File::open(&args.history)
        .map_err(|error| Failure::input_says(format!("cannot read {path}: {error}")))?;
    let history = History::read(BufReader::new(file))
        .map_err(|error| Failure::input_says(format!("{path}: {error}")))?;
    let verdict = verdict::judge(&history);
    if !verdict.violated().is_empty() {
        let again = format!("onceproof check {path}");
        println!("{}", violations(&history.header.title, &history, &verdict, &again));
    }
    println!("verdict {verdict}");
    Ok(match (verdict.violates_safety(), verdict.violates_liveness(), verdict.is_inconclusive()) {
        (true, _, _) => exit::SAFETY,
        (_, true, _) => exit::LIVENESS,
        (_, _, true) => exit::INCONCLUSIVE,
        _ => exit::AS_EXPECTED,
    })
}
