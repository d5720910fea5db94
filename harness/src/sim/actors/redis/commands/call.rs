//! One call of a command, and what every family says of its commands.

use super::super::{
    keyspace::Keyspace,
    resp::{self, Reply},
};

/// A reply, or an error in Redis's own words.
pub type Outcome = Result<Reply, String>;

/// One call of a command.
pub struct Call<'a> {
    /// What the Redis remembers.
    pub keyspace: &'a mut Keyspace,
    /// The database that the connection has selected.
    pub database: u32,
    /// The wall clock.
    pub now_ms: i64,
    /// The command's name, then its arguments: as many as its arity asks for.
    pub words: &'a [Vec<u8>],
    /// Whether there is no memory left: a script meets that at its first command that needs some.
    pub full: bool,
}

/// A command on keys.
pub struct Spec {
    /// Its name, in lower case.
    pub name: &'static str,
    /// How many words it has; at least so many where negative.
    pub arity: i32,
    /// Whether it may change something.
    pub writes: bool,
    /// Whether it needs memory, and so is refused when there is none left.
    pub grows: bool,
    /// What it does. An error has changed nothing.
    pub run: fn(&mut Call<'_>) -> Outcome,
}

pub(super) const fn read(name: &'static str, arity: i32, run: fn(&mut Call<'_>) -> Outcome) -> Spec {
    Spec { name, arity, writes: false, grows: false, run }
}

pub(super) const fn write(name: &'static str, arity: i32, run: fn(&mut Call<'_>) -> Outcome) -> Spec {
    Spec { name, arity, writes: true, grows: false, run }
}

pub(super) const fn grow(name: &'static str, arity: i32, run: fn(&mut Call<'_>) -> Outcome) -> Spec {
    Spec { name, arity, writes: true, grows: true, run }
}

/// Whether a command of this arity may have so many words.
pub fn fits(arity: i32, words: usize) -> bool {
    let least = arity.unsigned_abs() as usize;
    if arity < 0 { words >= least } else { words == least }
}

/// Another number of arguments than the command takes.
pub fn wrong_arity(name: &str) -> String {
    format!("ERR wrong number of arguments for '{name}' command")
}

pub(super) const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
pub(super) const SYNTAX: &str = "ERR syntax error";
pub(super) const NO_INTEGER: &str = "ERR value is not an integer or out of range";

impl Call<'_> {
    /// The word at `at`, or no bytes where there is none.
    pub(super) fn word(&self, at: usize) -> &[u8] {
        self.words.get(at).map_or(&[], Vec::as_slice)
    }

    /// The word at `at` in lower case: an option.
    pub(super) fn option(&self, at: usize) -> Vec<u8> {
        self.word(at).to_ascii_lowercase()
    }

    /// The word at `at` as an integer.
    pub(super) fn integer(&self, at: usize) -> Result<i64, String> {
        resp::number(self.word(at)).ok_or_else(|| NO_INTEGER.into())
    }
}

/// How many, as a reply.
pub(super) fn count(count: usize) -> Outcome {
    Ok(Reply::Number(i64::try_from(count).unwrap_or(i64::MAX)))
}

/// A string or nothing, as a reply.
pub(super) fn bytes_or_nil(bytes: Option<Vec<u8>>) -> Reply {
    bytes.map_or(Reply::Nil, Reply::Bytes)
}
