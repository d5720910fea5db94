//! A violation with what shows it: why, the shortest evidence, the timeline, and the line that repeats it.

use std::fmt::Write as _;

use super::{
    lines::{line, time},
    timeline::timeline,
};
use crate::{
    history::History,
    verdict::{Judged, Verdict},
};

/// What every violated invariant of a run says for itself, then the run as a whole.
#[must_use]
pub fn violations(title: &str, history: &History, verdict: &Verdict, again: &str) -> String {
    let mut text = format!("── {title}\n");
    for judged in verdict.violated() {
        let _ = writeln!(text, "   {} violated: {}", judged.name, judged.ruling.why());
        evidence(&mut text, history, judged);
    }
    text.push('\n');
    for line in timeline(history).lines() {
        let _ = writeln!(text, "   {line}");
    }
    let _ = writeln!(text, "\n   again: {again}");
    text
}

fn evidence(text: &mut String, history: &History, judged: &Judged) {
    for entry in judged.ruling.evidence().iter().filter_map(|index| history.entries.get(*index)) {
        if let Some(line) = line(entry) {
            let _ = writeln!(text, "     {:>14}  {:<10} {line}", time(entry.at_ms), entry.host);
        }
    }
}
