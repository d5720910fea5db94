//! The last hour, in slots of five minutes: rates of all time would hide what happens now.

use std::{collections::VecDeque, time::Duration};

use crate::{signals::Vitals, store::Queue};

const SLOT: Duration = Duration::from_secs(5 * 60);

/// An hour, and the slot that has just begun.
const SLOTS: u64 = 13;

/// What happened in each slot in which something did, the latest last.
#[derive(Default)]
pub(super) struct Recent {
    slots: VecDeque<(u64, Slot)>,
}

/// What happened in five minutes.
#[derive(Default)]
pub(super) struct Slot {
    vitals: Vitals,
}

impl Recent {
    /// The slot of this time since boot.
    pub(super) fn now(&mut self, now: Duration) -> &mut Slot {
        let number = self.forget(now);
        if self.slots.back().is_none_or(|(last, _)| *last < number) {
            self.slots.push_back((number, Slot::default()));
        }
        let last = self.slots.len() - 1;
        &mut self.slots[last].1
    }

    /// All slots of the last hour together.
    pub(super) fn vitals(&mut self, now: Duration) -> Vitals {
        self.forget(now);
        let mut all = Vitals::default();
        for (_, slot) in &self.slots {
            all.add(&slot.vitals);
        }
        all
    }

    fn forget(&mut self, now: Duration) -> u64 {
        let number = now.as_secs() / SLOT.as_secs();
        while self.slots.front().is_some_and(|(first, _)| first + SLOTS <= number) {
            self.slots.pop_front();
        }
        number
    }
}

impl Slot {
    pub(super) fn requested(&mut self, is_replay: bool) {
        self.vitals.requests += 1;
        self.vitals.replays += u64::from(is_replay);
    }

    pub(super) fn escaped(&mut self) {
        self.vitals.escaped_duplicates += 1;
    }

    pub(super) fn completed(&mut self, queue: Queue, attempts: u32) {
        self.vitals.completed(queue.word(), attempts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_remembered_and_no_more() {
        let mut recent = Recent::default();
        let minute = |minutes: u64| Duration::from_secs(minutes * 60);
        for minutes in [0, 4, 5, 64] {
            recent.now(minute(minutes)).requested(minutes == 4);
        }
        let requests = |recent: &mut Recent, minutes| {
            let vitals = recent.vitals(minute(minutes));
            (vitals.requests, vitals.replays)
        };
        assert_eq!(requests(&mut recent, 64), (4, 1));
        assert_eq!(requests(&mut recent, 65), (2, 0));
        assert_eq!(requests(&mut recent, 70), (1, 0));
        assert_eq!(requests(&mut recent, 10_000), (0, 0));
        assert!(recent.slots.is_empty());
    }
}
