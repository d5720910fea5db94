//! Who saw which mutant.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use serde_json::{Value, json};

use super::{evidence::Story, played::plan_name};
use crate::{
    mutants::{Hunted, Kill, Mutant, Worth},
    plan::Plan,
    run::{Options, RunError, run_with},
    sim::event::EventEngine,
};

/// The command that plays a plan again with a mutant.
pub type Again = fn(&Mutant, &Plan) -> String;

/// So many scenarios are named where more see a mutant.
const NAMED: usize = 2;

/// For people: the shortest evidence of each, then a table, then the count.
///
/// # Errors
/// As [`run_with`].
pub fn text(hunted: &[Hunted], plans: &[Plan], unclean: &[String], again: Again) -> Result<String, RunError> {
    let mut text = String::new();
    for (number, hunted) in hunted.iter().enumerate() {
        text.push_str(&evidence(hunted, number == 0, again)?);
        text.push('\n');
    }
    for line in table(hunted).lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for name in unclean {
        let _ = writeln!(text, "strict itself breaks a promise in {name}");
    }
    let killed = hunted.iter().filter(|hunted| hunted.by_invariant().next().is_some()).count();
    let cases: usize = hunted.iter().map(|hunted| hunted.cases).sum();
    let _ = write!(
        text,
        "{} mutants, {killed} killed, {} not seen, in {cases} cases; strict unplanted: {} cases, {} clean",
        hunted.len(),
        hunted.len() - killed,
        plans.len(),
        plans.len() - unclean.len()
    );
    Ok(text)
}

/// Plays the shortest once more, so that nothing had to be kept of all the others.
fn evidence(hunted: &Hunted, legend: bool, again: Again) -> Result<String, RunError> {
    let mutant = hunted.mutant;
    let Some(kill) = hunted.shortest() else {
        return Ok(format!(
            "── {}: {} NOT SEEN by any of {} cases\n",
            mutant.name, mutant.says, hunted.cases
        ));
    };
    let options = Options { mutant: Some(mutant), ..Options::default() };
    let outcome = run_with(&kill.plan, &EventEngine, options)?;
    let title = format!("{} · {}", mutant.name, kill.plan.scenario.title);
    let story = Story {
        title: &title,
        notes: &[mutant.says.to_owned()],
        history: &outcome.history,
        verdict: &outcome.verdict,
        again: &again(mutant, &kill.plan),
        legend,
    };
    Ok(story.text())
}

fn table(hunted: &[Hunted]) -> String {
    let mut table = Table::new();
    let line = LineStyle::none().fill('─').junction('─');
    let style = TableStyle::new().top_border(line).header_separator(line).bottom_border(line);
    table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["mutant", "rules", "killed by", "breaks", "first case", "of"]);
    for hunted in hunted {
        let first = hunted.by_invariant().next().map_or("never".to_owned(), |kill| kill.case.to_string());
        table.add_row([
            hunted.mutant.name.to_owned(),
            hunted.mutant.rules.join(" "),
            scenarios(hunted),
            hunted.invariants().join(", "),
            first,
            hunted.cases.to_string(),
        ]);
    }
    table.to_string()
}

fn scenarios(hunted: &Hunted) -> String {
    let names = hunted.scenarios();
    let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "NOBODY".to_owned(),
        count if count > NAMED => format!("{shown} and {} more", count - NAMED),
        _ => shown,
    }
}

/// For programs.
#[must_use]
pub fn json(hunted: &[Hunted], unclean: &[String]) -> String {
    let kill = |kill: &Kill| json!({ "case": kill.case, "plan": plan_name(&kill.plan), "invariants": kill.invariants, "evidence": kill.evidence });
    let mutants: Vec<Value> = hunted
        .iter()
        .map(|hunted| {
            json!({
                "name": hunted.mutant.name,
                "says": hunted.mutant.says,
                "rules": hunted.mutant.rules,
                "cases": hunted.cases,
                "killed": hunted.by_invariant().next().is_some(),
                "kills": hunted.kills.iter().map(kill).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({ "mutants": mutants, "unclean": unclean }).to_string()
}

/// What nobody would see without each of these scenarios, for people.
#[must_use]
pub fn worths(worths: &[(&str, Worth)]) -> String {
    let mut text = String::new();
    for (name, worth) in worths {
        let said = [
            ("alone kills", worth.kills.join(", ")),
            ("alone shows", worth.shows.join(", ")),
            ("alone reaches", worth.reaches.join(", ")),
            ("plays", worth.plays.join("; ")),
        ];
        let said: Vec<String> = said
            .into_iter()
            .filter(|(_, what)| !what.is_empty())
            .map(|(does, what)| format!("{does} {what}"))
            .collect();
        let _ = match said.is_empty() {
            true => writeln!(text, "{name}: nothing would be lost without it"),
            false => writeln!(text, "{name}: {}", said.join(" · ")),
        };
    }
    let idle = worths.iter().filter(|(_, worth)| worth.is_nothing()).count();
    let _ = write!(text, "{} scenarios, {idle} without which nothing would be lost", worths.len());
    text
}

/// The same for programs.
#[must_use]
pub fn worths_json(worths: &[(&str, Worth)]) -> String {
    let one = |(name, worth): &(&str, Worth)| json!({ "scenario": name, "kills": worth.kills, "shows": worth.shows, "reaches": worth.reaches, "plays": worth.plays });
    json!({ "scenarios": worths.iter().map(one).collect::<Vec<_>>() }).to_string()
}
