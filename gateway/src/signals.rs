//! What a watcher is to be told (M2): a gateway asks it of its last hour, a simulation of a whole run.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

/// Under this share of replays producers are healthy.
const REPLAYS_HEALTHY_PERCENT: u64 = 2;

/// Over this one there is something wrong with a producer: it retries too much, or its keys are wrong.
const REPLAYS_RAISED_PERCENT: u64 = 5;

/// Of fewer requests than this a single replay would be over the limit, so that their share says nothing.
const REQUESTS_LEAST: u64 = 20;

/// Over this median of attempts something is wrong that idempotency only hides.
const ATTEMPTS_RAISED: u64 = 2;

/// More attempts than this count as so many.
const ATTEMPTS_MOST: u32 = 100;

/// What the signals are made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vitals {
    /// Sends that producers asked for.
    pub requests: u64,
    /// How many of them were answered with a replay.
    pub replays: u64,
    /// Messages that went out within five minutes of one with the same recipient and content.
    pub escaped_duplicates: u64,
    /// By queue: how many rows took so many attempts until they were done.
    attempts: BTreeMap<String, BTreeMap<u32, u64>>,
    /// Rows that nobody tries any more; `None` where the store does not tell.
    pub dead_letters: Option<u64>,
}

/// A signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signal {
    /// The share of requests that are answered with a replay.
    ReplayRate,
    /// Messages that went out twice.
    EscapedDuplicates,
    /// How many attempts a row takes, in the middle of all that are done.
    MedianAttempts,
    /// Rows that nobody tries any more.
    DeadLetters,
}

/// How a signal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Healthy, or nothing that could tell otherwise.
    Ok,
    /// Not healthy any more.
    Watch,
    /// Nobody can tell.
    Unknown,
    /// Somebody has to look.
    Raised,
}

/// A signal and how it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Which.
    pub signal: Signal,
    /// How it stands.
    pub level: Level,
    /// In words, with the numbers and the limit.
    pub says: String,
}

impl Signal {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::ReplayRate, Self::EscapedDuplicates, Self::MedianAttempts, Self::DeadLetters];

    /// Its name as files spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReplayRate => "replay-rate",
            Self::EscapedDuplicates => "escaped-duplicates",
            Self::MedianAttempts => "median-attempts",
            Self::DeadLetters => "dead-letters",
        }
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Watch => "watch",
            Level::Unknown => "unknown",
            Level::Raised => "raised",
        };
        write!(f, "signal {} {level}: {}", self.signal.name(), self.says)
    }
}

impl Vitals {
    /// A row of a queue was done with so many attempts.
    pub fn completed(&mut self, queue: &str, attempts: u32) {
        let of = self.attempts.entry(queue.to_owned()).or_default();
        *of.entry(attempts.min(ATTEMPTS_MOST)).or_default() += 1;
    }

    /// Adds what was counted elsewhere, or at another time. Dead letters are no count of a time: these stay as they are.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.replays += other.replays;
        self.escaped_duplicates += other.escaped_duplicates;
        for (queue, attempts) in &other.attempts {
            let of = self.attempts.entry(queue.clone()).or_default();
            for (attempts, rows) in attempts {
                *of.entry(*attempts).or_default() += rows;
            }
        }
    }

    /// Every signal, in the order of [`Signal::ALL`].
    #[must_use]
    pub fn readings(&self) -> Vec<Reading> {
        let reading = |signal| {
            let (level, says) = match signal {
                Signal::ReplayRate => self.replay_rate(),
                Signal::EscapedDuplicates => self.escaped(),
                Signal::MedianAttempts => self.median_attempts(),
                Signal::DeadLetters => self.dead(),
            };
            Reading { signal, level, says }
        };
        Signal::ALL.map(reading).into()
    }

    fn replay_rate(&self) -> (Level, String) {
        let Self { requests, replays, .. } = *self;
        let is_over = |percent| replays * 100 > requests * percent;
        let is_healthy = replays * 100 < requests * REPLAYS_HEALTHY_PERCENT;
        let (level, limit) = match () {
            () if requests < REQUESTS_LEAST => (Level::Ok, "too few requests to tell"),
            () if is_over(REPLAYS_RAISED_PERCENT) => (Level::Raised, "over 5 %"),
            () if is_healthy => (Level::Ok, "under 2 %"),
            () => (Level::Watch, "not under 2 %"),
        };
        (level, format!("{replays} of {requests} requests were answered with a replay: {limit}"))
    }

    fn escaped(&self) -> (Level, String) {
        let says = "messages that went out within 5 minutes of one with the same recipient and content";
        (raised_if(self.escaped_duplicates > 0), format!("{says}: {}", self.escaped_duplicates))
    }

    /// Of the queue whose rows take the most.
    fn median_attempts(&self) -> (Level, String) {
        let medians = self.attempts.iter().map(|(queue, attempts)| (twice_the_median(attempts), queue));
        match medians.max() {
            None => (Level::Ok, "no row was done".to_owned()),
            Some((twice, queue)) => {
                let half = if twice % 2 == 0 { "" } else { ".5" };
                let says = format!(
                    "a row of the queue `{queue}` takes {}{half} attempts (median; limit 2)",
                    twice / 2
                );
                (raised_if(twice > 2 * ATTEMPTS_RAISED), says)
            }
        }
    }

    fn dead(&self) -> (Level, String) {
        match self.dead_letters {
            None => (Level::Unknown, "the store does not answer".to_owned()),
            Some(letters) => (raised_if(letters > 0), format!("dead letters: {letters}")),
        }
    }
}

fn raised_if(is_raised: bool) -> Level {
    match is_raised {
        true => Level::Raised,
        false => Level::Ok,
    }
}

/// Of an even number of rows the two in the middle count.
fn twice_the_median(attempts: &BTreeMap<u32, u64>) -> u64 {
    let rows: u64 = attempts.values().sum();
    let nth = |n: u64| {
        let mut seen = 0;
        let reached = attempts.iter().find(|(_, rows)| {
            seen += *rows;
            seen > n
        });
        reached.map_or(0, |(attempts, _)| u64::from(*attempts))
    };
    nth(rows.saturating_sub(1) / 2) + nth(rows / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(vitals: &Vitals, signal: Signal) -> Level {
        let readings = vitals.readings();
        readings.iter().find(|reading| reading.signal == signal).unwrap().level
    }

    #[test]
    fn the_share_of_replays_is_told_from_twenty_requests_on() {
        let level =
            |requests, replays| level(&Vitals { requests, replays, ..Vitals::default() }, Signal::ReplayRate);
        assert_eq!(level(0, 0), Level::Ok);
        assert_eq!(level(19, 19), Level::Ok);
        assert_eq!(level(20, 1), Level::Watch, "five in a hundred are not over");
        assert_eq!(level(20, 2), Level::Raised);
        assert_eq!(level(1000, 19), Level::Ok);
        assert_eq!(level(1000, 20), Level::Watch, "two in a hundred are not under");
        assert_eq!(level(1000, 50), Level::Watch);
        assert_eq!(level(1000, 51), Level::Raised);
    }

    #[test]
    fn the_median_is_that_of_the_slower_queue() {
        let median = |job: &[u32], outbox: &[u32]| {
            let mut vitals = Vitals::default();
            job.iter().for_each(|attempts| vitals.completed("job", *attempts));
            outbox.iter().for_each(|attempts| vitals.completed("outbox", *attempts));
            let says = vitals.readings().remove(2).says;
            (level(&vitals, Signal::MedianAttempts), says)
        };
        assert_eq!(median(&[], &[]).0, Level::Ok);
        assert_eq!(median(&[1, 1, 1], &[2]).0, Level::Ok);
        assert_eq!(median(&[1, 1, 1], &[3]).0, Level::Raised);
        assert_eq!(median(&[1, 2, 5], &[]).0, Level::Ok);
        let (level, says) = median(&[1, 2, 3, 5], &[1]);
        assert_eq!(level, Level::Raised);
        assert!(says.contains("`job` takes 2.5 attempts"), "{says}");
    }

    #[test]
    fn one_escaped_duplicate_or_dead_letter_is_one_too_many() {
        let none = Vitals { dead_letters: Some(0), ..Vitals::default() };
        assert!(none.readings().iter().all(|reading| reading.level == Level::Ok));
        let one = Vitals { escaped_duplicates: 1, dead_letters: Some(1), ..Vitals::default() };
        assert_eq!(level(&one, Signal::EscapedDuplicates), Level::Raised);
        assert_eq!(level(&one, Signal::DeadLetters), Level::Raised);
        assert_eq!(level(&Vitals::default(), Signal::DeadLetters), Level::Unknown);
    }

    #[test]
    fn what_is_added_is_counted_together() {
        let mut one = Vitals { requests: 10, replays: 1, dead_letters: Some(3), ..Vitals::default() };
        one.completed("job", 1);
        let mut other = Vitals { requests: 10, escaped_duplicates: 1, ..Vitals::default() };
        other.completed("job", 5);
        other.completed("job", 1_000);
        one.add(&other);
        let mut expected = Vitals { requests: 20, replays: 1, escaped_duplicates: 1, ..Vitals::default() };
        expected.dead_letters = Some(3);
        for attempts in [1, 5, ATTEMPTS_MOST] {
            expected.completed("job", attempts);
        }
        assert_eq!(one, expected);
    }
}
