//! Simulated time.

use std::time::Duration;

/// The wall clock at the beginning of every run: 2026-01-01T00:00:00Z.
const EPOCH_MS: i64 = 1_767_225_600_000;

/// The wall clock so long after the run began.
pub fn wall_ms(since_start_ms: u64) -> i64 {
    EPOCH_MS + i64::try_from(since_start_ms).expect("no run lasts for ages")
}

/// A duration in whole milliseconds, which is the grain of simulated time.
pub fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("no run lasts for ages")
}
