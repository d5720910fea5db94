//! When a worker polls: at once while it finds something, else every two seconds.
//!
//! A poll that would find nothing is left out, so that a day stays cheap; the others come when they would have come.

use std::time::Duration;

use onceproof_gateway::world::SharedWorld;
use tokio::sync::watch;

/// How often.
const EVERY: Duration = Duration::from_secs(2);

/// The polls of one worker.
pub struct Polls {
    world: SharedWorld,
    /// When the next thing is due, in milliseconds since 1970, as only the simulation can know.
    next_due_ms: Box<dyn Fn() -> Option<i64> + Send + Sync>,
    /// Tells when that may have changed.
    news: watch::Receiver<u64>,
}

impl Polls {
    /// The polls of a worker that looks for what `next_due_ms` tells.
    pub fn new(
        world: &SharedWorld,
        news: watch::Receiver<u64>,
        next_due_ms: impl Fn() -> Option<i64> + Send + Sync + 'static,
    ) -> Self {
        Self { world: world.clone(), next_due_ms: Box::new(next_due_ms), news }
    }

    /// Whether a poll would find something now.
    pub fn is_due(&self) -> bool {
        (self.next_due_ms)().is_some_and(|due_ms| due_ms <= self.world.clock_ms())
    }

    /// After a poll that found nothing: waits for the first that finds something.
    pub async fn next(&mut self) {
        let since = self.world.since_boot();
        loop {
            self.news.mark_unchanged();
            let Some(due_ms) = (self.next_due_ms)() else {
                news(&mut self.news).await;
                continue;
            };
            let now = self.world.since_boot();
            let left_ms = u64::try_from(due_ms - self.world.clock_ms()).unwrap_or(0);
            let passed = now - since + Duration::from_millis(left_ms);
            let polls = passed.as_millis().div_ceil(EVERY.as_millis()).max(1);
            let at = since + EVERY * u32::try_from(polls).unwrap_or(u32::MAX);
            tokio::select! {
                biased;
                () = self.world.sleep(at - now) => return,
                () = news(&mut self.news) => {}
            }
        }
    }
}

/// Ready when there is news; never, where nobody can bring any.
async fn news(news: &mut watch::Receiver<u64>) {
    if news.changed().await.is_err() {
        std::future::pending().await
    }
}
