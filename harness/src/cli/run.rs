//! `run`: every cell of every scenario, the violations with their evidence, and one table.

use std::{fs, path::Path};

use serde_json::json;

use super::{
    args::{Format, RunArgs},
    entry::engine,
    failure::Failure,
    scenarios::plans,
};
use crate::{
    exit, history,
    plan::Plan,
    report::{
        evidence::violations,
        table::{Judged, table},
        timeline::timeline,
    },
    run::{Outcome, run},
    verdict::{Summary, Verdict},
};

/// One cell and what became of it.
struct Played {
    plan: Plan,
    outcome: Outcome,
    differences: Vec<String>,
}

/// Plays, prints, and gives the exit code.
pub fn command(args: &RunArgs) -> Result<u8, Failure> {
    let plans = plans(args)?;
    if plans.is_empty() {
        println!("nothing ran: no scenario is for this profile");
        return Ok(exit::INCONCLUSIVE);
    }
    let engine = engine(args.engine);
    let mut played = Vec::new();
    for plan in plans {
        let outcome = run(&plan, &*engine).map_err(Failure::input)?;
        let differences = outcome.verdict.differences(&plan.expectation());
        played.push(Played { plan, outcome, differences });
    }
    if let Some(out) = &args.out {
        for cell in played.iter().filter(|cell| cell.is_violated() || !cell.differences.is_empty()) {
            write_files(out, cell)?;
        }
    }
    match args.format {
        Format::Text => print_text(args, &played),
        Format::Json => print_json(&played),
    }
    Ok(code(&played))
}

impl Played {
    fn verdict(&self) -> &Verdict {
        &self.outcome.verdict
    }

    fn is_violated(&self) -> bool {
        self.verdict().broken().is_some()
    }

    fn name(&self) -> String {
        format!("{}.{}.{}", self.plan.name, self.plan.profile(), self.plan.ability().name())
    }

    fn again(&self, args: &RunArgs) -> String {
        match &args.out {
            Some(out) => format!("onceproof replay {}", out.join(self.name()).join("plan.toml").display()),
            None => format!(
                "onceproof run {} --profile {} --seed {}",
                self.plan.name,
                self.plan.profile(),
                self.plan.seed()
            ),
        }
    }

    fn judged(&self) -> Judged {
        Judged {
            scenario: self.plan.name.clone(),
            profile: self.plan.profile().into(),
            ability: self.plan.ability().name().into(),
            verdict: self.verdict().to_string(),
            expected: self.differences.is_empty(),
            good: matches!(self.verdict().summary(), Summary::Kept { .. }),
        }
    }
}

fn print_text(args: &RunArgs, played: &[Played]) {
    let mut shown: Option<&Played> = None;
    for cell in played.iter().filter(|cell| cell.is_violated()) {
        // A second ability with the same verdict tells the same story again.
        let told = shown.is_some_and(|earlier| earlier.tells_the_same_as(cell));
        if !told {
            let title = format!(
                "{} · {} · {} provider",
                cell.plan.scenario.title,
                cell.plan.profile(),
                cell.plan.ability().name()
            );
            println!("{}", violations(&title, &cell.outcome.history, cell.verdict(), &cell.again(args)));
            if let Some(because) = cell.plan.expectation().because.filter(|_| cell.differences.is_empty()) {
                println!("   expected, because {because}\n");
            }
        }
        shown = Some(cell);
    }
    println!("{}", table(&played.iter().map(Played::judged).collect::<Vec<_>>()));
    for cell in played.iter().filter(|cell| !cell.differences.is_empty()) {
        println!("not as expected: {}: {}", cell.name(), cell.differences.join("; "));
    }
    print_unknown(played);
    println!("{}", summary(played));
}

impl Played {
    fn tells_the_same_as(&self, other: &Self) -> bool {
        self.plan.name == other.plan.name
            && self.plan.profile() == other.plan.profile()
            && self.verdict().to_string() == other.verdict().to_string()
    }
}

/// `kept ?n` says that n messages are visibly unknown: these.
fn print_unknown(played: &[Played]) {
    for cell in played.iter().filter(|cell| !cell.verdict().unknown.is_empty()) {
        let keys: Vec<&str> = cell.verdict().unknown.iter().map(|slot| slot.key.as_str()).collect();
        println!("?  {}: unknown, and visible as such: {}", cell.name(), keys.join(", "));
    }
}

fn summary(played: &[Played]) -> String {
    let unexpected = played.iter().filter(|cell| !cell.differences.is_empty()).count();
    let simulated_ms: u64 = played.iter().map(|cell| cell.outcome.cost.simulated_ms).sum();
    format!(
        "{} cells, {} as expected, {unexpected} not; {:.1} days of simulated time",
        played.len(),
        played.len() - unexpected,
        simulated_ms as f64 / 86_400_000.0
    )
}

fn print_json(played: &[Played]) {
    let cells: Vec<_> = played
        .iter()
        .map(|cell| {
            json!({
                "scenario": cell.plan.name,
                "profile": cell.plan.profile(),
                "ability": cell.plan.ability(),
                "seed": cell.plan.seed(),
                "verdict": cell.verdict().to_string(),
                "violated": cell.verdict().violated().map(|judged| json!({
                    "invariant": judged.name,
                    "why": judged.ruling.why(),
                    "evidence": judged.ruling.evidence(),
                })).collect::<Vec<_>>(),
                "unknown": cell.verdict().unknown.len(),
                "effects": cell.outcome.history.effects(),
                "expected": cell.differences.is_empty(),
                "differences": cell.differences,
                "digest": cell.outcome.digest,
                "cost": cell.outcome.cost,
            })
        })
        .collect();
    println!("{}", json!({ "onceproof": env!("CARGO_PKG_VERSION"), "cells": cells }));
}

/// Writes plan, history and timeline of a cell into a folder of its name.
fn write_files(out: &Path, cell: &Played) -> Result<(), Failure> {
    let folder = out.join(cell.name());
    let failed = |error: &std::io::Error| Failure::io(format!("cannot write {}", folder.display()), error);
    fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
    let plan = cell.plan.to_toml().map_err(|error| Failure::input_says(error.to_string()))?;
    let mut history = Vec::new();
    history::write(&cell.outcome.history, &mut history).map_err(|error| failed(&error))?;
    let picture = timeline(&cell.outcome.history);
    let files: [(&str, &[u8]); 4] = [
        ("plan.toml", plan.as_bytes()),
        ("history.ndjson", &history),
        ("timeline.txt", picture.as_bytes()),
        ("digest.txt", cell.outcome.digest.as_bytes()),
    ];
    for (name, content) in files {
        fs::write(folder.join(name), content).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Unexpected violations first, by their weight; then what showed nothing; then expected failures that did not come.
fn code(played: &[Played]) -> u8 {
    let unexpected = played.iter().filter(|cell| !cell.differences.is_empty());
    let codes: Vec<u8> = unexpected.map(|cell| cell.verdict().exit_code()).collect();
    let by_weight = [exit::SAFETY, exit::LIVENESS, exit::INCONCLUSIVE];
    match by_weight.into_iter().find(|code| codes.contains(code)) {
        Some(code) => code,
        None if codes.is_empty() => exit::AS_EXPECTED,
        None => exit::EXPECTED_FAILURE_MISSING,
    }
}
