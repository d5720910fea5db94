//! Why a command ends early, and with which exit code.

use std::{fmt::Debug, io};

use miette::Report;

use crate::{exit, plan::nearest, run::RunError};

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

    /// A plan cannot be played: a store that does not open is our fault, all else that of the plan.
    pub fn run(error: RunError) -> Self {
        let code = match error {
            RunError::Store(_) | RunError::Book(_) => exit::OUR_FAULT,
            RunError::Policy(_) | RunError::Engine(_) => exit::BAD_INPUT,
        };
        Self { code, report: error.into() }
    }

    /// Says which of many plans it is about.
    pub fn about(self, plan: &str) -> Self {
        Self { code: self.code, report: self.report.wrap_err(format!("cannot play {plan}")) }
    }

    /// The input names something that is not there: what was probably meant, and all that is.
    pub fn unknown(kind: &str, name: &str, known: &[&str]) -> Self {
        let near = nearest(name, known).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        // A name a line: the frame around it breaks longer lines inside of names.
        let list: Vec<String> = known.iter().map(|known| format!("  {known}")).collect();
        let report = miette::miette!(
            help = format!("{near}known are\n{}", list.join("\n")),
            "there is no {kind} `{name}`"
        );
        Self { code: exit::BAD_INPUT, report }
    }

    /// A file cannot be written or another process cannot be run.
    pub fn io(what: String, error: &io::Error) -> Self {
        Self { code: exit::OUR_FAULT, report: Report::msg(format!("{what}: {error}")) }
    }
}
