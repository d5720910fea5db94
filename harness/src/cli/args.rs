//! What the command line takes.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::workers::Share;
use crate::report::timeline::LEGEND;

/// Proves, or breaks, one promise: a key acts once.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
   0  as expected; replay: FIXED
   1  safety violated (also when liveness was, too); replay: STILL FAILS
   2  liveness violated; replay: STILL FAILS
   3  not deterministic
   4  nothing ran, or inconclusive
   5  what was expected did not come, and no promise is broken
  64  bad input
  70  our own fault";

/// How to read what `run`, `replay` and `check` print.
const READING: &str = concat!(
    "Verdicts:\n",
    "  kept          every promise held\n",
    "  kept ?n       the same, and n messages are visibly unknown: they are listed\n",
    "  waived        a promise was broken only where it does not bind: listed, too\n",
    "  violated      a promise was broken; the names are those of the invariants\n",
    "  inconclusive  the case did not test what it says\n",
    "  –             the scenario is not for this profile\n\n",
    "Timelines:\n  "
);

fn reading() -> String {
    format!("{READING}{LEGEND}\n\n{EXIT_CODES}")
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(after_help = reading())]
    /// Play scenarios and compare each verdict with what its file expects
    Run(RunArgs),
    #[command(after_help = reading())]
    /// Play one plan file again: FIXED or STILL FAILS
    Replay(ReplayArgs),
    #[command(after_help = reading())]
    /// Judge a history file
    Check(CheckArgs),
    #[command(after_help = EXIT_CODES)]
    /// Plant known mistakes into `strict`, one after the other: each must be seen by a scenario
    Mutants(MutantsArgs),
    #[command(after_help = EXIT_CODES)]
    /// Hurt small workloads at every point and message, in every way, for every profile
    Matrix(MatrixArgs),
    #[command(after_help = EXIT_CODES)]
    /// Find the smallest set of decisions that turns every bad cell of a profile's matrix good, and check it
    Explain(ExplainArgs),
    #[command(after_help = EXIT_CODES)]
    /// Play seeded plans twice here and once in another process: the same seed must give the same bytes
    Determinism(DeterminismArgs),
    /// Print the JSON schema of the scenario format
    Schema,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Names of scenarios; all, if none is named
    #[arg(value_name = "SCENARIO")]
    pub names: Vec<String>,
    /// Only this profile
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Plant this mistake into `strict`, and play no other profile
    #[arg(long, value_name = "MUTANT")]
    pub mutant: Option<String>,
    /// Seed of every run
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Read scenarios from this folder instead of the embedded ones
    #[arg(long, value_name = "DIR")]
    pub scenarios: Option<PathBuf>,
    /// Where plan, history, timeline and digest of each cell are written
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// What it is played on
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineName,
}

#[derive(Debug, Args)]
pub struct MutantsArgs {
    /// Names of mutants; all, if none is named
    #[arg(value_name = "MUTANT", conflicts_with = "without")]
    pub names: Vec<String>,
    /// Say what nobody would see without this scenario; without a name, of every scenario
    #[arg(long, value_name = "SCENARIO", num_args = 0..=1, default_missing_value = "")]
    pub without: Option<String>,
    /// Seed of every run
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// What is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct MatrixArgs {
    /// Only this profile
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Only this workload: send, concurrent, webhook, batch or redrive
    #[arg(long, value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Only this cell, with its story: workload/profile/ability/hurt/place/retry
    #[arg(long, value_name = "CELL")]
    pub cell: Option<String>,
    /// Where the plan of that cell is written
    #[arg(long, value_name = "FILE", requires = "cell")]
    pub out: Option<PathBuf>,
    /// Print the grids without the list of bad cells
    #[arg(long)]
    pub brief: bool,
    /// Hurt at messages only, as for a service that says nothing of its points
    #[arg(long)]
    pub subject_blind: bool,
    /// Seed of every run
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// What is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Play this share of the cells, and print a result a line: what the worker processes do
    #[arg(long, hide = true)]
    pub share: Option<Share>,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Whose matrix
    pub profile: String,
    /// Check these decisions, with commas between them, instead of looking for the smallest set
    #[arg(long, value_name = "DECISIONS", value_delimiter = ',')]
    pub set: Option<Vec<String>>,
    /// Only this provider: keyed, queryable, echoing or opaque
    #[arg(long, value_name = "ABILITY")]
    pub ability: Option<String>,
    /// Only this workload: send, concurrent, webhook, batch or redrive
    #[arg(long, value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Seed of every run
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// What is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Play this share of the cells with the set, and print a result a line: what the worker processes do
    #[arg(long, hide = true)]
    pub share: Option<Share>,
    /// Only the cells of these numbers
    #[arg(long, hide = true, value_delimiter = ',', requires = "share")]
    pub cells: Option<Vec<usize>>,
    /// The cells which the profile has with the set
    #[arg(long, hide = true, requires = "share")]
    pub fresh: bool,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A plan file, as `run --out` writes them
    pub plan: PathBuf,
    /// Play it with another seed than the plan's
    #[arg(long)]
    pub seed: Option<u64>,
    /// What it is played on
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineName,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A history file (NDJSON)
    pub history: PathBuf,
}

#[derive(Debug, Args)]
pub struct DeterminismArgs {
    /// How many plans
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub cases: u64,
    /// Seed of the first plan
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Spoil chance with real time, so that this command must fail
    #[arg(long, hide = true)]
    pub plant_nondeterminism: bool,
    /// Print one digest a line and nothing else: what the other process does
    #[arg(long, hide = true)]
    pub digests: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// turmoil's network stack, driven by events
    #[default]
    Event,
    /// turmoil's own simulation, in ticks: a check of our scheduler
    Turmoil,
}
