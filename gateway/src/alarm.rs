//! When the sweeper, or a worker, has something to do: what the store's answers say of the future, kept until it comes.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;

use crate::world::World;

/// The earliest due time that is known, in milliseconds of this host's wall clock.
#[derive(Default)]
pub(crate) struct Alarm {
    known: Mutex<Known>,
    changed: Notify,
}

#[derive(Default)]
struct Known {
    due_ms: Option<i64>,
    /// A command without an answer may have left something to sweep.
    doubt: Option<Doubt>,
    /// Commands that were begun and not ended.
    in_flight: u32,
    /// Whether two of them overlapped, so that the order of their answers says nothing.
    overlapped: bool,
}

/// A command without an answer may be executed at any time. So it is looked for again and again, at intervals that
/// double until they are longer than [`LONGEST_DOUBT_MS`].
struct Doubt {
    look_ms: i64,
    pause_ms: i64,
}

/// One hour.
const LONGEST_DOUBT_MS: i64 = 3_600_000;

impl Alarm {
    /// A command is handed to the store.
    pub(crate) fn begin(&self) -> InFlight<'_> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.overlapped |= known.in_flight > 0;
        known.in_flight += 1;
        InFlight { alarm: self, is_over: false }
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
    fn due_ms(&self) -> Option<i64> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.due()
    }

    /// A pass begins, whose own answers say what is due; a doubt that it looks into comes again later.
    pub(crate) fn clear(&self, now_ms: i64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.due_ms = None;
        known.doubt = known.doubt.take().and_then(|doubt| doubt.after(now_ms));
    }

    /// Ready once there may be something to do. One task waits at a time.
    pub(crate) async fn sleep_until_due(&self, world: &dyn World) {
        loop {
            let now_ms = world.clock_ms();
            let Some(due_ms) = self.due_ms() else {
                self.changed.notified().await;
                continue;
            };
            let Ok(left_ms @ 1..) = u64::try_from(due_ms.saturating_sub(now_ms)) else {
                return;
            };
            tokio::select! {
                biased;
                () = self.changed.notified() => {}
                () = world.sleep(Duration::from_millis(left_ms)) => {}
            }
        }
    }
}

/// A command that is at the store. One that is given up, or executed nothing, ends by being dropped.
pub(crate) struct InFlight<'a> {
    alarm: &'a Alarm,
    is_over: bool,
}

impl InFlight<'_> {
    /// The store answered. An answer to a command that overlapped no other replaces what was known; else the
    /// earlier time counts.
    pub(crate) fn end(mut self, due_ms: Option<i64>) {
        self.is_over = true;
        self.alarm.change(|known| {
            known.due_ms = match known.overlapped {
                true => earlier(known.due_ms, due_ms),
                false => due_ms,
            };
        });
    }

    /// The store did not answer; if it executes the command all the same, there is something to do after `pause_ms`.
    pub(crate) fn end_in_doubt(mut self, now_ms: i64, pause_ms: i64) {
        self.is_over = true;
        self.alarm.change(|known| {
            let look_ms = now_ms.saturating_add(pause_ms);
            let sooner = known.doubt.take().map_or(i64::MAX, |doubt| doubt.look_ms);
            known.doubt = Some(Doubt { look_ms: look_ms.min(sooner), pause_ms });
        });
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.alarm.change(|_| ());
        }
    }
}

impl Known {
    fn due(&self) -> Option<i64> {
        let look_ms = self.doubt.as_ref().map(|doubt| doubt.look_ms);
        earlier(self.due_ms, look_ms)
    }
}

impl Doubt {
    /// What is left of it after a look at `now_ms`.
    fn after(self, now_ms: i64) -> Option<Self> {
        if self.look_ms > now_ms {
            return Some(self);
        }
        let pause_ms = self.pause_ms.saturating_mul(2);
        (pause_ms <= LONGEST_DOUBT_MS).then(|| Self { look_ms: now_ms.saturating_add(pause_ms), pause_ms })
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
        alarm.begin().end(Some(30));
        alarm.begin().end(Some(500));
        assert_eq!(alarm.due_ms(), Some(500));
        let (one, other) = (alarm.begin(), alarm.begin());
        one.end(Some(20));
        other.end(None);
        assert_eq!(alarm.due_ms(), Some(20));
        drop(alarm.begin());
        assert_eq!(alarm.due_ms(), Some(20), "one that was given up says nothing");
        alarm.begin().end(None);
        assert_eq!(alarm.due_ms(), None);
    }

    #[test]
    fn a_doubt_is_looked_into_again_until_its_pause_is_over_an_hour() {
        let alarm = Alarm::default();
        alarm.begin().end_in_doubt(0, 1_000_000);
        alarm.begin().end(None);
        alarm.clear(999_999);
        assert_eq!(alarm.due_ms(), Some(1_000_000));
        alarm.clear(1_000_000);
        assert_eq!(alarm.due_ms(), Some(3_000_000));
        alarm.clear(3_000_000);
        assert_eq!(alarm.due_ms(), None);
    }
}
