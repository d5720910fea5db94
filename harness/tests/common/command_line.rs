//! What the tests of the command line share: running it, folders of their own, scenarios that are spoilt.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// The program under test.
pub const ONCEPROOF: &str = env!("CARGO_BIN_EXE_onceproof");

/// What a run of the program came to.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the program with these words.
pub fn onceproof<W: AsRef<std::ffi::OsStr>>(words: &[W]) -> Ran {
    let mut command = Command::new(ONCEPROOF);
    ran(command.args(words).stdin(Stdio::null()).output().expect("the program starts"))
}

/// Runs a line as if it was pasted into a shell.
pub fn pasted(line: &str) -> Ran {
    ran(Command::new("sh").args(["-c", line]).stdin(Stdio::null()).output().expect("sh starts"))
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().expect("it was not killed"),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

impl Ran {
    /// Asserts the exit code, and shows everything if it is another.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "`{text}` is not in\n{}", self.stdout);
        self
    }

    #[track_caller]
    pub fn says_nothing_of(self, text: &str) -> Self {
        assert!(!self.stdout.contains(text), "`{text}` is in\n{}", self.stdout);
        self
    }

    #[track_caller]
    pub fn complains(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "`{text}` is not in\n{}", self.stderr);
        self
    }

    /// The commands on the lines `again:`.
    pub fn agains(&self) -> Vec<&str> {
        self.stdout.lines().filter_map(|line| line.trim().strip_prefix("again: ")).collect()
    }

    pub fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }
}

/// An empty folder of this name, with a space in its path.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command line").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A folder of this name with one scenario `mine`: one of those in `tests/cli`, with each left text
/// replaced by its right one.
pub fn spoilt(name: &str, scenario: &str, edits: &[(&str, &str)]) -> String {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let mut text = fs::read_to_string(beside.join(format!("{scenario}.toml"))).expect("a scenario");
    for (from, to) in edits {
        assert!(text.contains(from), "`{from}` is in {scenario}");
        text = text.replace(from, to);
    }
    let folder = folder(name);
    fs::write(folder.join("mine.toml"), text).expect("written");
    folder.to_str().expect("UTF-8").to_owned()
}

/// Every file below a folder, with its text.
pub fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let text = fs::read_to_string(&path).expect("text");
            found.push((path, text));
        }
    }
    found
}
