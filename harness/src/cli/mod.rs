//! The command line: what it takes, and what each command does.

mod args;
mod check;
mod determinism;
mod entry;
mod failure;
mod replay;
mod run;
mod scenarios;

pub use entry::main;
