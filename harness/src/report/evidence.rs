//! A run that needs a look: what is wrong with it, the shortest evidence, the timeline, and the line that repeats it.

use std::fmt::Write as _;

use super::{
    lines::{line, printable, time},
    timeline::{LEGEND, excerpt},
};
use crate::{
    history::{Entry, History},
    verdict::{Judged, Verdict},
};

/// What is told of a run.
#[derive(Debug)]
pub struct Story<'a> {
    /// The heading.
    pub title: &'a str,
    /// Whatever is to be known before the evidence, a line each.
    pub notes: &'a [String],
    /// What happened.
    pub history: &'a History,
    /// What that means.
    pub verdict: &'a Verdict,
    /// The command that repeats it.
    pub again: &'a str,
    /// Whether the glyphs are explained: once is enough.
    pub legend: bool,
}

impl Story<'_> {
    /// What every violated invariant says for itself, then the run as a whole.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("── {}\n", printable(self.title));
        for note in self.notes {
            let _ = writeln!(text, "   {}", printable(note));
        }
        for judged in self.verdict.violated() {
            let _ = writeln!(text, "   {} violated: {}", judged.name, printable(judged.ruling.why()));
            self.evidence(&mut text, judged);
        }
        text.push('\n');
        self.timeline(&mut text);
        let _ = writeln!(text, "\n   again: {}", self.again);
        text
    }

    fn evidence(&self, text: &mut String, judged: &Judged) {
        let shown: Vec<&Entry> =
            judged.ruling.evidence().iter().filter_map(|index| self.history.entries.get(*index)).collect();
        let times = shown.iter().map(|entry| time(entry.at_ms).len()).max().unwrap_or(0);
        let hosts = shown.iter().map(|entry| printable(&entry.host).chars().count()).max().unwrap_or(0);
        for entry in shown {
            if let Some(line) = line(entry) {
                let _ = writeln!(
                    text,
                    "     {:>times$}  {:<hosts$}  {line}",
                    time(entry.at_ms),
                    printable(&entry.host)
                );
            }
        }
    }

    fn timeline(&self, text: &mut String) {
        let evidence: Vec<usize> =
            self.verdict.violated().flat_map(|judged| judged.ruling.evidence()).copied().collect();
        for line in excerpt(self.history, &evidence).lines() {
            let _ = writeln!(text, "   {}", line.trim_end());
        }
        if self.legend {
            let _ = writeln!(text, "   {LEGEND}");
        }
    }
}
