//! A Redis's memory, and the ways in which it is lost.

use std::collections::{BTreeMap, VecDeque};

use super::{
    commands::{self, Call, Outcome, Spec},
    glob,
    keyspace::Keyspace,
};

/// How far back writes can be lost one by one.
const HISTORY_MS: u64 = 60_000;

pub(super) const OUT_OF_MEMORY: &str = "OOM command not allowed when used memory > 'maxmemory'.";

/// When something happens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moment {
    /// Time since the host booted, by which a window of lost writes is measured: it never steps.
    pub since_boot_ms: u64,
    /// The wall clock, by which keys expire.
    pub wall_ms: i64,
}

/// Everything that a Redis remembers.
#[derive(Default)]
pub struct Memory {
    live: Keyspace,
    /// The keyspace as it was before the writes in `recent`.
    settled: Keyspace,
    recent: VecDeque<Write>,
    /// Scripts by their hash.
    scripts: BTreeMap<Vec<u8>, Vec<u8>>,
    /// No command that needs memory is allowed.
    pub refuses_writes: bool,
    /// When anything was last asked.
    pub last: Moment,
}

struct Write {
    at: Moment,
    change: Change,
}

enum Change {
    Call { spec: &'static Spec, database: u32, words: Vec<Vec<u8>> },
    Evict { pattern: Vec<u8> },
}

impl Change {
    fn apply(&self, keyspace: &mut Keyspace, at: Moment, full: bool) -> Outcome {
        keyspace.expire(at.wall_ms);
        match self {
            Self::Call { spec, database, words } => {
                (spec.run)(&mut Call { keyspace, database: *database, now_ms: at.wall_ms, words, full })
            }
            Self::Evict { pattern } => {
                keyspace.evict(|key| glob::matches(pattern, key));
                Ok(super::resp::OK)
            }
        }
    }
}

impl Memory {
    /// Runs a command on keys. Whoever calls has asked whether there is room for it.
    pub fn run(&mut self, at: Moment, spec: &'static Spec, database: u32, words: &[Vec<u8>]) -> Outcome {
        self.last = at;
        let change = Change::Call { spec, database, words: words.to_vec() };
        let outcome = change.apply(&mut self.live, at, self.refuses_writes);
        if spec.writes && outcome.is_ok() {
            self.remember(Write { at, change });
        }
        outcome
    }

    /// Whether there is memory for more.
    ///
    /// # Errors
    /// What a command is told that needs some.
    pub fn has_room(&self) -> Result<(), String> {
        if self.refuses_writes { Err(OUT_OF_MEMORY.into()) } else { Ok(()) }
    }

    /// Removes the keys that fit a pattern, as a Redis does that is short of memory.
    pub fn evict(&mut self, at: Moment, pattern: &str) {
        let change = Change::Evict { pattern: pattern.into() };
        if change.apply(&mut self.live, at, false).is_ok() {
            self.remember(Write { at, change });
        }
    }

    fn remember(&mut self, write: Write) {
        let horizon_ms = write.at.since_boot_ms.saturating_sub(HISTORY_MS);
        self.recent.push_back(write);
        while self.recent.front().is_some_and(|write| write.at.since_boot_ms < horizon_ms) {
            if let Some(write) = self.recent.pop_front() {
                // It did the same on the same keys before.
                let _ = write.change.apply(&mut self.settled, write.at, false);
            }
        }
    }

    /// Forgets every write of the last `ms` before `now`.
    pub fn forget_last(&mut self, now: Moment, ms: u64) {
        let kept = |write: &Write| write.at.since_boot_ms.saturating_add(ms) <= now.since_boot_ms;
        self.recent.truncate(self.recent.partition_point(kept));
        self.live = self.settled.clone();
        for write in &self.recent {
            let _ = write.change.apply(&mut self.live, write.at, false);
        }
    }

    /// Forgets everything.
    pub fn forget_all(&mut self) {
        self.live.clear();
        self.settled.clear();
        self.recent.clear();
        self.forget_scripts();
    }

    /// Forgets the scripts, which no Redis keeps on disk.
    pub fn forget_scripts(&mut self) {
        self.scripts.clear();
    }

    /// Remembers a script, and gives its hash.
    ///
    /// # Errors
    /// It is none of those that are known.
    pub fn load_script(&mut self, script: &[u8]) -> Result<Vec<u8>, String> {
        commands::scripts::check(script)?;
        let sha = commands::scripts::sha(script);
        self.scripts.insert(sha.clone(), script.to_vec());
        Ok(sha)
    }

    /// The script of a hash.
    pub fn script(&self, sha: &[u8]) -> Option<&Vec<u8>> {
        self.scripts.get(&sha.to_ascii_lowercase())
    }
}
