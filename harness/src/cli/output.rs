//! Standard output that may be closed at any moment.

use std::{
    fmt::Display,
    io::{self, ErrorKind, Write},
};

use super::failure::Failure;

/// Standard output. `onceproof run | head -1` closes it early; the work and its exit code go on all the same.
#[derive(Debug, Default)]
pub struct Output {
    closed: bool,
}

impl Output {
    /// Prints a line, if anybody still reads.
    pub fn line(&mut self, text: impl Display) -> Result<(), Failure> {
        if self.closed {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => Err(Failure::io("cannot print".into(), &error)),
            Ok(()) => Ok(()),
        }
    }
}
