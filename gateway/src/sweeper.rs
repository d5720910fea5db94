//! Does without a repetition what the table of states says, and asks the provider about every `unknown`. It sleeps
//! until the next due time that the store knows: idle time costs nothing.

mod query;
mod reask;

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    alarm::Alarm,
    ledger::Ledger,
    metrics::{Metrics, Retried},
    policy::Policy,
    provider::{Ability, WhatsApp},
    send::{Wakeups, report_orphan, sent},
    shutdown::Shutdown,
    store::{Reply, Slot, StoreError},
    world::{BoxFuture, SharedWorld},
};

/// Re-asks and queries that run at a time.
const CONCURRENT_ASKS: u32 = 8;

/// Between two sweeps when the first had nothing to do although something was due, or when the store failed.
const SHORTEST_REST: Duration = Duration::from_secs(1);

/// The longest pause between two re-asks or queries, and between two tries of a store that fails.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// What the sweeper needs from the gateway.
#[derive(Clone)]
pub(crate) struct Sweeper {
    pub(crate) world: SharedWorld,
    pub(crate) ledger: Ledger,
    pub(crate) policy: Arc<Policy>,
    pub(crate) provider: Arc<WhatsApp>,
    pub(crate) wakeups: Arc<Wakeups>,
    pub(crate) metrics: Metrics,
    pub(crate) alarm: Arc<Alarm>,
}

impl Sweeper {
    /// Sweeps until the gateway is to stop; then begins nothing more, and returns once what it has asked is settled, or has
    /// had its time. The first sweep is at once: what an earlier life of this host left behind is in the store.
    pub(crate) async fn run(self, shutdown: Shutdown) {
        let asking = Arc::new(Semaphore::new(CONCURRENT_ASKS as usize));
        self.sweep(&asking, &shutdown).await;
        tokio::select! {
            biased;
            _ = asking.acquire_many(CONCURRENT_ASKS) => {}
            () = shutdown.over() => {}
        }
    }

    /// Only pauses are cut short: a settle lease of which nobody heard would keep its record for as long as it lasts.
    async fn sweep(&self, asking: &Arc<Semaphore>, shutdown: &Shutdown) {
        let mut rest = SHORTEST_REST;
        while !shutdown.is_asked() {
            match self.pass(asking, shutdown).await {
                Ok(true) => rest = SHORTEST_REST,
                Ok(false) => {
                    shutdown.unless_asked(self.world.sleep(SHORTEST_REST)).await;
                    rest = SHORTEST_REST;
                }
                Err(_) => {
                    shutdown.unless_asked(self.world.sleep(rest)).await;
                    rest = (rest * 2).min(LONGEST_REST);
                    continue;
                }
            }
            shutdown.unless_asked(self.alarm.sleep_until_due(&*self.world)).await;
        }
    }

    /// Sweeps, and begins every re-ask or query that is due. Tells whether this did anything, or nothing was due.
    async fn pass(&self, asking: &Arc<Semaphore>, shutdown: &Shutdown) -> Result<bool, StoreError> {
        let now_ms = self.world.clock_ms();
        self.alarm.clear(now_ms);
        let answer = self.ledger.sweep().await?;
        let mut is_progress = self.wake(&answer.reply);
        let is_due = answer.next_due_ms.is_some_and(|due_ms| due_ms <= now_ms);
        while is_due && !shutdown.is_asked() && self.begin(asking).await? {
            is_progress = true;
        }
        Ok(is_progress || !is_due)
    }

    /// Wakes whoever waits for a key that the sweep touched; tells whether there was one.
    fn wake(&self, reply: &Reply) -> bool {
        let Reply::Swept { released, unknown, expired, forgotten } = reply else {
            return false;
        };
        for slot in released.iter().chain(unknown) {
            self.wakeups.settled(slot);
        }
        [released, unknown, expired, forgotten].iter().any(|slots| !slots.is_empty())
    }

    /// Begins one re-ask or query, if one is due; it then runs in a task of its own.
    async fn begin(&self, asking: &Arc<Semaphore>) -> Result<bool, StoreError> {
        let Ok(permit) = asking.clone().acquire_owned().await else {
            return Ok(false);
        };
        let asked = match self.ledger.ability() {
            Ability::Keyed { retention } => self.begin_ask(Some(retention)).await?,
            Ability::Echoing | Ability::Opaque => self.begin_ask(None).await?,
            Ability::Queryable => self.begin_query().await?,
        };
        let Some(asked) = asked else {
            return Ok(false);
        };
        self.metrics.retried(Retried::Ask);
        self.spawn(asked, permit);
        Ok(true)
    }

    fn spawn(&self, asked: BoxFuture<()>, permit: OwnedSemaphorePermit) {
        self.world.spawn(Box::pin(async move {
            asked.await;
            drop(permit);
        }));
    }

    /// Records a proof of success, whoever holds the settle lease by now. Whatever the store does not hear of, the next
    /// asker finds out again, once the settle lease is out.
    async fn record(&self, slot: &Slot, reference: &str, message_id: &str, begun: Duration) {
        let answer = sent(slot, message_id);
        let lease_end = begun + self.policy.lease;
        let mut pause = SHORTEST_REST;
        loop {
            match self.ledger.done(slot, reference, &answer).await {
                Ok(reply) => return report_orphan(&reply, reference, &answer),
                Err(_) if self.world.since_boot() >= lease_end => return,
                Err(_) => self.world.sleep(pause).await,
            }
            pause *= 2;
        }
    }
}

/// 1, 2, 4, 8 … seconds after the first, second, third … time, and never more than a minute.
fn backoff(asks: u32) -> Duration {
    let exponent = asks.saturating_sub(1).min(6);
    Duration::from_secs(1 << exponent).min(LONGEST_REST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_between_asks_grow_to_a_minute() {
        let pauses: Vec<u64> = (1..=8).map(|asks| backoff(asks).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
