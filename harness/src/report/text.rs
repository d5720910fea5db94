//! What a person reads of a run: what needs a look, one table, and what the exit code says.

use std::{collections::BTreeSet, fmt::Write as _};

use super::{
    evidence::Story,
    list,
    played::{Played, exit_code, unexpected_of},
    table::table,
};
use crate::exit;

/// So many cells are named where more share a fate.
const NAMED: usize = 3;

/// The whole report. What is not expected stands last, nearest to the table.
#[must_use]
pub fn text(played: &[Played]) -> String {
    let mut text = String::new();
    stories(&mut text, played);
    let judged: Vec<_> = played.iter().map(Played::judged).collect();
    for line in table(&judged).lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for block in [list::unknown(played), list::waived(played)] {
        text.push_str(&block);
    }
    unexpected(&mut text, played);
    text.push_str(&summary(played));
    text
}

fn stories(text: &mut String, played: &[Played]) {
    let (expected, surprising): (Vec<_>, Vec<_>) =
        played.iter().filter(|cell| cell.needs_a_look()).partition(|cell| cell.is_as_expected());
    let mut legend = true;
    for cells in [expected, surprising] {
        for told in cells.chunk_by(|one, next| one.tells_the_same_as(next)) {
            if let Some(first) = told.first() {
                let _ = writeln!(text, "{}", story(first, told, legend));
                legend = false;
            }
        }
    }
}

fn title(first: &Played, told: &[&Played]) -> String {
    let plan = &first.plan;
    let mut abilities: Vec<&str> = told.iter().map(|cell| cell.plan.ability().name()).collect();
    abilities.dedup();
    let mut title =
        format!("{} · {} · {} provider", plan.scenario.title, plan.profile(), abilities.join(" or "));
    if !plan.variant.is_empty() {
        let _ = write!(title, " · {}", plan.variant);
        // All were played; what is shown below is the first.
        let variants: BTreeSet<&str> = told.iter().map(|cell| cell.plan.variant.as_str()).collect();
        if variants.len() > 1 {
            let _ = write!(title, ", the first of {} variants that end so", variants.len());
        }
    }
    title
}

/// The story of cells that differ only in the ability of the provider or in the variant.
fn story(first: &Played, told: &[&Played], legend: bool) -> String {
    let title = title(first, told);
    let because = first.plan.expectation().because.map(|because| format!("as expected, because {because}"));
    let notes: Vec<String> = match first.is_as_expected() {
        true => because.into_iter().collect(),
        false => {
            let differences = first.differences.iter().map(|line| format!("NOT EXPECTED: {line}"));
            differences.chain(first.verdict().raised().map(ToString::to_string)).collect()
        }
    };
    let (history, verdict) = (&first.outcome.history, first.verdict());
    Story { title: &title, notes: &notes, history, verdict, again: &first.again, legend }.text()
}

fn unexpected(text: &mut String, played: &[Played]) {
    for cell in played.iter().filter(|cell| !cell.is_as_expected()) {
        let _ = writeln!(text, "not as expected: {}: {}", cell.name(), cell.differences.join("; "));
    }
}

fn summary(played: &[Played]) -> String {
    let unexpected = played.iter().filter(|cell| !cell.is_as_expected()).count();
    let simulated_ms: u64 = played.iter().map(|cell| cell.outcome.cost.simulated_ms).sum();
    let mut text = format!(
        "{} cells, {} as expected, {unexpected} not; {} of simulated time",
        played.len(),
        played.len() - unexpected,
        duration(simulated_ms)
    );
    if let Some(why) = why(exit_code(played)) {
        let _ = write!(text, "\nexit code {}: {why}: {}", exit_code(played), culprits(played));
    }
    text
}

fn why(code: u8) -> Option<&'static str> {
    match code {
        exit::SAFETY => Some("safety is violated, and not as expected"),
        exit::LIVENESS => Some("liveness is violated, and not as expected"),
        exit::INCONCLUSIVE => Some("a case did not test what it says"),
        exit::EXPECTED_FAILURE_MISSING => Some("no promise is broken, but what was expected did not come"),
        _ => None,
    }
}

fn culprits(played: &[Played]) -> String {
    let names: Vec<String> = unexpected_of(played, exit_code(played)).map(Played::name).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.into_iter().take(NAMED).collect::<Vec<_>>().join(", ") + &more
}

fn duration(ms: u64) -> String {
    const HOUR: u64 = 3_600_000;
    match ms {
        0..HOUR => format!("{:.1} minutes", ms as f64 / 60_000.0),
        HOUR..172_800_000 => format!("{:.1} hours", ms as f64 / 3_600_000.0),
        _ => format!("{:.1} days", ms as f64 / 86_400_000.0),
    }
}
