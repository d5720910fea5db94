//! From the arguments to a command, and from its result to an exit code.

use std::process::ExitCode;

use clap::{Parser, error::ErrorKind};

use super::{
    args::{Cli, Command, EngineName},
    check, determinism, replay, run,
};
use crate::{
    exit,
    sim::{engine::Engine, event::EventEngine, turmoil::TurmoilEngine},
};

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Where the terminal is gone there is nobody to tell.
            let _ = error.print();
            return ExitCode::from(if asked { exit::AS_EXPECTED } else { exit::BAD_INPUT });
        }
    };
    let done = match &cli.command {
        Command::Run(args) => run::command(args),
        Command::Replay(args) => replay::command(args),
        Command::Check(args) => check::command(args),
        Command::Determinism(args) => determinism::command(args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("{:?}", failure.report);
            ExitCode::from(failure.code)
        }
    }
}

/// The engine of this name.
pub fn engine(name: EngineName) -> Box<dyn Engine> {
    match name {
        EngineName::Event => Box::new(EventEngine),
        EngineName::Turmoil => Box::new(TurmoilEngine),
    }
}
