//! When the sweeper has something to do: what the store's answers say of the future, kept until it comes.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// The earliest due time that is known, in milliseconds of this host's wall clock.
#[derive(Default)]
pub(crate) struct Alarm {
    known: Mutex<Known>,
    changed: Notify,
}

#[derive(Default)]
struct Known {
    due_ms: Option<i64>,
    /// When a command without an answer may have left something to sweep.
    doubt_ms: Option<i64>,
    /// Commands that were begun and not ended.
    in_flight: u32,
    /// Whether two of them overlapped, so that the order of their answers says nothing.
    overlapped: bool,
}

impl Alarm {
    /// A command was handed to the store.
    pub(crate) fn begin(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.overlapped |= known.in_flight > 0;
        known.in_flight += 1;
    }

    /// The store answered. An answer to a command that overlapped no other replaces what was known; else the
    /// earlier time counts.
    pub(crate) fn end(&self, due_ms: Option<i64>) {
        self.change(|known| {
            known.due_ms = match known.overlapped {
                true => earlier(known.due_ms, due_ms),
                false => due_ms,
            };
        });
    }

    /// The store did not answer; if it executed the command all the same, there is something to do at `doubt_ms`.
    pub(crate) fn end_without_answer(&self, doubt_ms: Option<i64>) {
        self.change(|known| known.doubt_ms = earlier(known.doubt_ms, doubt_ms));
    }

    fn change(&self, learn: impl FnOnce(&mut Known)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.due();
        learn(&mut known);
        known.in_flight = known.in_flight.saturating_sub(1);
        known.overlapped &= known.in_flight > 0;
        if known.due() != before {
            self.changed.notify_one();
        }
    }

    /// The earliest time at which there may be something to do.
    pub(crate) fn due_ms(&self) -> Option<i64> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.due()
    }

    /// A sweep begins, after which doubts up to `now_ms` are settled and its own answers say what is due.
    pub(crate) fn clear(&self, now_ms: i64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.due_ms = None;
        known.doubt_ms = known.doubt_ms.filter(|doubt_ms| *doubt_ms > now_ms);
    }

    /// Ready when the known time may have changed.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Known {
    fn due(&self) -> Option<i64> {
        earlier(self.due_ms, self.doubt_ms)
    }
}

fn earlier(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_answer_replaces_and_overlapping_ones_keep_the_earlier_time() {
        let alarm = Alarm::default();
        alarm.begin();
        alarm.end(Some(30));
        alarm.begin();
        alarm.end(Some(500));
        assert_eq!(alarm.due_ms(), Some(500));
        alarm.begin();
        alarm.begin();
        alarm.end(Some(20));
        alarm.end(None);
        assert_eq!(alarm.due_ms(), Some(20));
        alarm.begin();
        alarm.end(None);
        assert_eq!(alarm.due_ms(), None);
    }

    #[test]
    fn a_doubt_stays_until_a_sweep_after_it() {
        let alarm = Alarm::default();
        alarm.begin();
        alarm.end_without_answer(Some(50));
        alarm.begin();
        alarm.end(None);
        alarm.clear(49);
        assert_eq!(alarm.due_ms(), Some(50));
        alarm.clear(50);
        assert_eq!(alarm.due_ms(), None);
    }
}
