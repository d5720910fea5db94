//! Simulated time on this engine, and every deadline that a host waits for.
//!
//! Each host has a runtime, and so a clock, of its own. They all stand at the same millisecond between two
//! steps, and programs run only at the beginning of a step, so one number says what time it is for everybody:
//! also for destructors, which run where no runtime is. Deadlines are written down, so that a jump over quiet
//! time stops before the first of them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use onceproof_gateway::world::BoxFuture;

/// The time, and what is waited for.
#[derive(Debug, Default)]
pub struct Timers {
    now_ms: AtomicU64,
    /// How many sleepers each deadline has.
    deadlines: Mutex<BTreeMap<u64, u32>>,
}

impl Timers {
    /// Milliseconds since the run began.
    pub fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::Relaxed)
    }

    /// A step has taken this long.
    pub fn pass(&self, ms: u64) {
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
    }

    /// Whether a deadline is right now: its sleepers run in the step that begins here.
    pub fn due(&self) -> bool {
        self.lock().contains_key(&self.now_ms())
    }

    /// The first deadline from now on. One in the past belongs to a sleeper that nobody polls.
    pub fn next_ms(&self) -> Option<u64> {
        let later = self.now_ms() + 1..;
        self.lock().range(later).next().map(|(deadline_ms, _)| *deadline_ms)
    }

    /// Ready after `duration`, rounded up to the grain of simulated time. To be called on a running host.
    pub fn sleep(self: &Arc<Self>, duration: Duration) -> BoxFuture<()> {
        let ms = u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        let deadline = Deadline::new(Arc::clone(self), self.now_ms().saturating_add(ms));
        let sleep = tokio::time::sleep(Duration::from_millis(ms));
        Box::pin(async move {
            sleep.await;
            drop(deadline);
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, u32>> {
        self.deadlines.lock().expect("nothing panics while it counts deadlines")
    }
}

/// One sleeper's line in the book, struck out when it wakes, is cancelled, or dies with its host.
struct Deadline {
    timers: Arc<Timers>,
    at_ms: u64,
}

impl Deadline {
    fn new(timers: Arc<Timers>, at_ms: u64) -> Self {
        *timers.lock().entry(at_ms).or_default() += 1;
        Self { timers, at_ms }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        let mut deadlines = self.timers.lock();
        if let Some(sleepers) = deadlines.get_mut(&self.at_ms) {
            *sleepers -= 1;
            if *sleepers == 0 {
                deadlines.remove(&self.at_ms);
            }
        }
    }
}
