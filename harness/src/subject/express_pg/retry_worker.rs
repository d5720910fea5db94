//! The worker that attempts again what has failed (W8). It takes the processing key of the event, and whose is taken it
//! drops: whoever has it is trusted to finish.

use std::sync::Arc;

use onceproof_gateway::{points, world::SharedWorld};

use super::{
    Decisions,
    failure::Failure,
    keys::Keys,
    points::AFTER_ZREM,
    polls::Polls,
    reading::Reading,
    retry_queue::{Item, RetryQueue},
};

/// The worker of one process.
pub struct RetryWorker {
    /// The host.
    pub world: SharedWorld,
    /// The processing keys.
    pub keys: Arc<Keys>,
    /// What waits.
    pub queue: Arc<RetryQueue>,
    /// What is done with it.
    pub reading: Arc<dyn Reading>,
    /// What is decided.
    pub decisions: Decisions,
}

impl RetryWorker {
    /// Works for ever. An error that nothing handles ends the text's loop; it is taken to be begun again.
    pub async fn run(self, mut polls: Polls) {
        loop {
            let found = match polls.is_due() {
                true => self.work().await,
                false => Ok(0),
            };
            if !matches!(found, Ok(1..)) {
                polls.next().await;
            }
        }
    }

    /// Retries what is due, and tells how many that was.
    async fn work(&self) -> Result<usize, Failure> {
        let due = self.queue.due().await?;
        for item in &due {
            if let Err(why) = self.retry(item).await {
                self.fail(item, &why).await?;
            }
        }
        Ok(due.len())
    }

    async fn retry(&self, item: &Item) -> Result<(), Failure> {
        let id = &item.webhook.id;
        if !self.keys.claim(id).await? {
            return match self.decisions.retry_waits {
                true => self.queue.postpone(item).await,
                false => self.queue.remove(item, "dropped, its key is taken").await,
            };
        }
        self.world.reach(points::AFTER_LEASE).await;
        self.reading.process(item.webhook.clone()).await?;
        self.world.reach(points::BEFORE_COMPLETE).await;
        self.queue.remove(item, "completed").await?;
        self.keys.release(id).await?;
        self.world.reach(points::AFTER_COMPLETE).await;
        Ok(())
    }

    async fn fail(&self, item: &Item, why: &Failure) -> Result<(), Failure> {
        self.world.reach(points::BEFORE_FAIL).await;
        self.queue.remove(item, "failed").await?;
        self.world.reach(AFTER_ZREM).await;
        self.reading.after_failed_retry(item.webhook.clone()).await?;
        self.queue.enqueue(&item.webhook, item.attempts + 1, why).await
    }
}
