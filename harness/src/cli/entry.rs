//! From the arguments to a command, and from its result to an exit code.

use std::{
    io::{self, Write},
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
};

use clap::{Parser, error::ErrorKind};
use miette::MietteHandlerOpts;

use super::{
    args::{Cli, Command, EngineName},
    check, determinism, explain,
    failure::Failure,
    matrix, mutants,
    output::Output,
    replay, run, schema,
};
use crate::{
    exit,
    sim::{engine::Engine, event::EventEngine, turmoil::TurmoilEngine},
};

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    unwrapped_reports();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Where the terminal is gone there is nobody to tell.
            let _ = error.print();
            return ExitCode::from(if asked { exit::AS_EXPECTED } else { exit::BAD_INPUT });
        }
    };
    let code = guarded(|| match dispatch(&cli.command, &mut Output::default()) {
        Ok(code) => code,
        Err(failure) => {
            // Where standard error is gone there is nobody to tell.
            let _ = writeln!(io::stderr(), "{:?}", failure.report);
            failure.code
        }
    });
    ExitCode::from(code)
}

/// Long lines stay whole: what is wrapped can be neither searched for nor clicked on.
fn unwrapped_reports() {
    // A hook that is already set belongs to whoever embeds this.
    let _ = miette::set_hook(Box::new(|_| Box::new(MietteHandlerOpts::new().wrap_lines(false).build())));
}

fn dispatch(command: &Command, output: &mut Output) -> Result<u8, Failure> {
    match command {
        Command::Run(args) => run::command(args, output),
        Command::Replay(args) => replay::command(args, output),
        Command::Check(args) => check::command(args, output),
        Command::Matrix(args) => matrix::command(args, output),
        Command::Explain(args) => explain::command(args, output),
        Command::Mutants(args) => mutants::command(args, output),
        Command::Determinism(args) => determinism::command(args, output),
        Command::Schema => schema::command(output),
    }
}

/// A panic is our own fault, and has that exit code; the panic itself was already told.
fn guarded(work: impl FnOnce() -> u8) -> u8 {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or(exit::OUR_FAULT)
}

/// The engine of this name.
pub fn engine(name: EngineName) -> Box<dyn Engine> {
    match name {
        EngineName::Event => Box::new(EventEngine),
        EngineName::Turmoil => Box::new(TurmoilEngine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_our_own_fault() {
        assert_eq!(guarded(|| panic!("a test")), exit::OUR_FAULT);
        assert_eq!(guarded(|| exit::SAFETY), exit::SAFETY);
    }
}
