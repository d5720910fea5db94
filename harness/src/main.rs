//! The command line of onceproof.

use std::process::ExitCode;

use onceproof::allocator::{ALLOCATOR, Allocator};

#[global_allocator]
static GLOBAL: Allocator = ALLOCATOR;

fn main() -> ExitCode {
    onceproof::cli::main()
}
