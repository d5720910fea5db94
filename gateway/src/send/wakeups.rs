//! Wakes the repetitions of a key that wait in this process, when this process settles its record.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Notify;

use crate::store::Slot;

/// Who waits for which key.
#[derive(Default)]
pub(crate) struct Wakeups {
    waiting: Mutex<BTreeMap<Slot, Arc<Notify>>>,
}

/// One waiting repetition.
pub(super) struct Waiter<'a> {
    wakeups: &'a Wakeups,
    slot: &'a Slot,
    pub(super) notify: Arc<Notify>,
}

impl Wakeups {
    /// The key's record may have changed.
    pub(crate) fn settled(&self, slot: &Slot) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(notify) = waiting.get(slot) {
            notify.notify_waiters();
        }
    }

    pub(super) fn waiter<'a>(&'a self, slot: &'a Slot) -> Waiter<'a> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let notify = waiting.entry(slot.clone()).or_default().clone();
        Waiter { wakeups: self, slot, notify }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut waiting = self.wakeups.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // The map's handle and this one: nobody else waits.
        if Arc::strong_count(&self.notify) <= 2 {
            waiting.remove(self.slot);
        }
    }
}
