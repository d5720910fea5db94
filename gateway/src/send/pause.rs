//! Pauses between two tries of the same thing, each twice as long as the one before.

use std::time::Duration;

/// A growing pause.
pub(super) struct Pause {
    next: Duration,
    longest: Duration,
}

impl Pause {
    pub(super) fn growing(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    /// Between two tries of a store command: soon at first, for a caller waits; once a minute in the end, for a store
    /// may be down for a day.
    pub(super) fn for_store() -> Self {
        Self::growing(Duration::from_millis(50), Duration::from_secs(60))
    }

    pub(super) fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }
}
