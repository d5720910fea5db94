//! One process for each core: a simulation is one thread, so many of them are many processes.

use std::{
    env,
    io::{self, Read as _},
    process::{Command, Stdio},
    thread,
};

use super::failure::Failure;

/// Which part of the cases a worker plays: those whose number leaves `index` when divided by `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// From 0.
    pub index: usize,
    /// How many workers there are.
    pub of: usize,
}

impl Share {
    /// Whether a case belongs to this share.
    #[must_use]
    pub fn has(self, number: usize) -> bool {
        number % self.of == self.index
    }
}

impl std::str::FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((index, of)) if index < of => Ok(Self { index, of }),
            _ => Err(format!("`{text}` is no share: write `0/4` for the first of four")),
        }
    }
}

/// How many processes this machine can run at once.
#[must_use]
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs this program once for each share, with `--share` added to its words, and gives all lines that they print, in no
/// particular order.
pub fn lines_of_all(words: &[String], jobs: usize) -> Result<Vec<String>, Failure> {
    let failed = |error: &io::Error| Failure::io("cannot run another process".into(), error);
    let myself = env::current_exe().map_err(|error| failed(&error))?;
    let mut children = Vec::new();
    for index in 0..jobs {
        let mut command = Command::new(&myself);
        command.args(words).arg("--share").arg(format!("{index}/{jobs}"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        children.push(child.spawn().map_err(|error| failed(&error))?);
    }
    // A pipe that nobody empties would stop its worker.
    let readers: Vec<_> = children
        .iter_mut()
        .filter_map(|child| child.stdout.take())
        .map(|mut stdout| {
            thread::spawn(move || {
                let mut text = String::new();
                stdout.read_to_string(&mut text).map(|_| text)
            })
        })
        .collect();
    let mut lines = Vec::new();
    for reader in readers {
        let text = reader.join().map_err(|_| Failure::input_says("a reader of a worker panicked".into()))?;
        lines.extend(text.map_err(|error| failed(&error))?.lines().map(str::to_owned));
    }
    for mut child in children {
        let status = child.wait().map_err(|error| failed(&error))?;
        if !status.success() {
            return Err(failed(&io::Error::other(format!("a worker ended with {status}"))));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_leave_nothing_out_and_overlap_nowhere() {
        let shares: Vec<Share> = (0..3).map(|index| Share { index, of: 3 }).collect();
        for number in 0..100 {
            assert_eq!(shares.iter().filter(|share| share.has(number)).count(), 1);
        }
    }

    #[test]
    fn a_share_is_written_as_a_fraction() {
        assert_eq!("1/4".parse(), Ok(Share { index: 1, of: 4 }));
        for wrong in ["4/4", "1", "a/b", "-1/4", "0/0"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
