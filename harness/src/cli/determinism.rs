//! `determinism`: the same seed gives the same bytes, in one process and in two.

use std::process::{Command, Stdio};

use super::{args::DeterminismArgs, failure::Failure};
use crate::{
    exit,
    plan::sample::sample,
    run::{Options, Outcome, run_with},
    sim::event::EventEngine,
};

/// Plays every plan twice here and once in another process.
pub fn command(args: &DeterminismArgs) -> Result<u8, Failure> {
    if args.digests {
        for seed in seeds(args) {
            println!("{seed} {}", play(seed, args)?.digest);
        }
        return Ok(exit::AS_EXPECTED);
    }
    let elsewhere = digests_of_another_process(args)?;
    let (mut same, mut faults) = (0, 0);
    for (seed, theirs) in seeds(args).zip(elsewhere.lines()) {
        let (first, second) = (play(seed, args)?, play(seed, args)?);
        faults += first.history.faults();
        if first.digest != second.digest {
            println!("seed {seed}: two runs in this process differ: {}", first_difference(&first, &second));
        } else if theirs != format!("{seed} {}", first.digest) {
            println!("seed {seed}: another process gave {theirs}, this one {}", first.digest);
        } else {
            same += 1;
        }
    }
    println!("{same} of {} plans gave the same bytes three times; {faults} faults struck", args.cases);
    Ok(if same == args.cases { exit::AS_EXPECTED } else { exit::NOT_DETERMINISTIC })
}

fn seeds(args: &DeterminismArgs) -> impl Iterator<Item = u64> {
    (0..args.cases).map(|number| args.seed.wrapping_add(number))
}

fn play(seed: u64, args: &DeterminismArgs) -> Result<Outcome, Failure> {
    let options = Options { spoil_chance: args.plant_nondeterminism };
    run_with(&sample(seed), &EventEngine, options).map_err(Failure::input)
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
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn first_difference(first: &Outcome, second: &Outcome) -> String {
    let pairs = first.history.entries.iter().zip(&second.history.entries);
    let differing = pairs.enumerate().find(|(_, (one, other))| one != other);
    match differing {
        Some((index, (one, other))) => format!("event {index} was {one:?}, then {other:?}"),
        None => "in what the history does not show (packets, statements, draws)".into(),
    }
}
