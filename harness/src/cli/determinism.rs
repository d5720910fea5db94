//! `determinism`: the same seed gives the same bytes, in one process and in two.

use std::{
    collections::BTreeSet,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{args::DeterminismArgs, failure::Failure, output::Output};
use crate::{
    exit,
    history::Entry,
    plan::sample::sample,
    report::lines::time,
    run::{Options, Outcome, run_with},
    sim::event::EventEngine,
};

/// Plays every plan twice here and once in another process.
pub fn command(args: &DeterminismArgs, output: &mut Output) -> Result<u8, Failure> {
    if args.digests {
        for seed in seeds(args) {
            output.line(format!("{seed} {}", play(seed, args)?.digest))?;
        }
        return Ok(exit::AS_EXPECTED);
    }
    let elsewhere = digests_of_another_process(args)?;
    let (mut same, mut faults) = (0, 0);
    for (seed, theirs) in seeds(args).zip(elsewhere.lines()) {
        let (first, second) = (play(seed, args)?, play(seed, args)?);
        faults += first.history.faults();
        match difference(seed, &first, &second, theirs) {
            Some(difference) => output.line(difference)?,
            None => same += 1,
        }
    }
    output.line(format!(
        "{same} of {} plans gave the same bytes three times; {faults} faults struck",
        args.cases
    ))?;
    if same < args.cases {
        output.line("exit code 3: not deterministic")?;
        return Ok(exit::NOT_DETERMINISTIC);
    }
    Ok(exit::AS_EXPECTED)
}

/// How three runs of a seed differ, if they do.
fn difference(seed: u64, first: &Outcome, second: &Outcome, theirs: &str) -> Option<String> {
    if first.digest != second.digest {
        return Some(format!(
            "seed {seed}: two runs in this process differ: {}",
            first_difference(first, second)
        ));
    }
    let ours = format!("{seed} {}", first.digest);
    (theirs != ours).then(|| format!("seed {seed}: another process gave `{theirs}`, this one `{ours}`"))
}

fn seeds(args: &DeterminismArgs) -> impl Iterator<Item = u64> {
    (0..args.cases).map(|number| args.seed.wrapping_add(number))
}

fn play(seed: u64, args: &DeterminismArgs) -> Result<Outcome, Failure> {
    let options = Options { spoil_chance: args.plant_nondeterminism, ..Options::default() };
    run_with(&sample(seed), &EventEngine, options).map_err(Failure::run)
}

fn digests_of_another_process(args: &DeterminismArgs) -> Result<String, Failure> {
    let failed = |error: &std::io::Error| Failure::io("cannot run another process".into(), error);
    let myself = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(myself);
    command.args(["determinism", "--digests", "--cases", &args.cases.to_string()]);
    command.args(["--seed", &args.seed.to_string()]);
    if args.plant_nondeterminism {
        command.arg("--plant-nondeterminism");
    }
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let error = std::io::Error::other(format!("{}: {}", output.status, said.trim()));
        return Err(Failure::io("the other process failed".into(), &error));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn first_difference(first: &Outcome, second: &Outcome) -> String {
    let (ours, theirs) = (&first.history.entries, &second.history.entries);
    let differing = ours.iter().zip(theirs).enumerate().find(|(_, (one, other))| one != other);
    match differing {
        Some((index, (one, other))) => {
            format!("event {index} at {}: {}", time(one.at_ms), fields(one, other))
        }
        None if ours.len() != theirs.len() => format!("{} events, then {}", ours.len(), theirs.len()),
        None => "in what the history does not show (packets, statements, draws)".into(),
    }
}

/// The fields in which two events differ.
fn fields(one: &Entry, other: &Entry) -> String {
    let (one, other) = (json!(one), json!(other));
    let names: BTreeSet<&String> =
        [&one, &other].into_iter().filter_map(Value::as_object).flat_map(|fields| fields.keys()).collect();
    let differing = names.into_iter().filter(|name| one.get(name) != other.get(name));
    let shown = |value: Option<&Value>| value.map_or("nothing".into(), Value::to_string);
    differing
        .map(|name| format!("{name} was {}, then {}", shown(one.get(name)), shown(other.get(name))))
        .collect::<Vec<_>>()
        .join("; ")
}
