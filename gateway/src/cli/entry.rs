//! From the arguments to a command, and from its end to an exit code.

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use super::{check_config, config, serve, stub};

/// A message gateway whose idempotency keys act once.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve until SIGTERM or SIGINT.
    Serve {
        /// The configuration, in TOML.
        #[arg(long)]
        config: PathBuf,
    },
    /// Say in plain words what a configuration promises and what it gives up.
    CheckConfig {
        /// The configuration, in TOML.
        file: PathBuf,
    },
    /// A small provider to play with, which prints each message that goes out.
    StubProvider(stub::Options),
}

/// Why a command ends.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Exit code 64.
    #[error("{0}")]
    Usage(String),
    /// Exit code 1.
    #[error("{0}")]
    Running(String),
}

pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(64) } else { ExitCode::SUCCESS };
        }
    };
    let done = match arguments.command {
        Command::Serve { config } => config::read(&config).and_then(serve::serve),
        Command::CheckConfig { file } => config::read(&file).and_then(|config| check_config::print(&config)),
        Command::StubProvider(options) => stub::serve(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            match failure {
                Failure::Usage(_) => ExitCode::from(64),
                Failure::Running(_) => ExitCode::FAILURE,
            }
        }
    }
}
