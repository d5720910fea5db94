//! Why a command ends early, and with which exit code.

use std::{fmt::Debug, io};

use miette::Report;

use crate::exit;

/// An error with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// What the process exits with.
    pub code: u8,
    /// What the user reads.
    pub report: Report,
}

impl Failure {
    /// The input is bad.
    pub fn input(error: impl Into<Report>) -> Self {
        Self { code: exit::BAD_INPUT, report: error.into() }
    }

    /// The input is bad, in words.
    pub fn input_says(message: String) -> Self {
        Self { code: exit::BAD_INPUT, report: Report::msg(message) }
    }

    /// A file cannot be written or another process cannot be run.
    pub fn io(what: String, error: &io::Error) -> Self {
        Self { code: exit::OUR_FAULT, report: Report::msg(format!("{what}: {error}")) }
    }
}
