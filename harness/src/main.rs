//! The command line of onceproof.

use std::process::ExitCode;

fn main() -> ExitCode {
    onceproof::cli::main()
}
