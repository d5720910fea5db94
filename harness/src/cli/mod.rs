//! The command line: what it takes, and what each command does.

mod again;
mod args;
mod check;
mod determinism;
mod entry;
mod explain;
mod failure;
mod files;
mod matrix;
mod mutants;
mod output;
mod player;
mod replay;
mod run;
mod scenarios;
mod schema;
mod workers;

pub use entry::main;
