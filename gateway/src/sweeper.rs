//! Does without a repetition what the table of states says, and asks a keyed provider about every `unknown`. It
//! sleeps until the next due time that the store knows: idle time costs nothing.

use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use crate::{
    alarm::Alarm,
    ledger::Ledger,
    points,
    policy::{Policy, as_ms},
    provider::{Outbound, Outcome, WhatsApp},
    send::{Wakeups, sent},
    store::{Reply, Slot, StoreError},
    world::SharedWorld,
};

/// Re-asks that run at a time.
const CONCURRENT_ASKS: usize = 8;

/// Between two sweeps when the first had nothing to do although something was due, or when the store failed.
const SHORTEST_REST: Duration = Duration::from_secs(1);

/// The longest pause between two re-asks, and between two tries of a store that fails.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// What the sweeper needs from the gateway.
#[derive(Clone)]
pub(crate) struct Sweeper {
    pub(crate) world: SharedWorld,
    pub(crate) ledger: Ledger,
    pub(crate) policy: Arc<Policy>,
    pub(crate) provider: Arc<WhatsApp>,
    pub(crate) wakeups: Arc<Wakeups>,
    pub(crate) alarm: Arc<Alarm>,
}

/// A re-ask that is durably begun.
struct Ask {
    slot: Slot,
    reference: String,
    request: String,
    settle_token: i64,
    asks: u32,
    is_alone: bool,
    /// This host's clocks just before it was begun.
    begun_ms: i64,
    begun: Duration,
}

impl Sweeper {
    /// Sweeps for ever. The first sweep is at once: what an earlier life of this host left behind is in the store.
    pub(crate) async fn run(self) {
        let asking = Arc::new(Semaphore::new(CONCURRENT_ASKS));
        let mut rest = SHORTEST_REST;
        loop {
            match self.pass(&asking).await {
                Ok(true) => rest = SHORTEST_REST,
                Ok(false) => {
                    self.world.sleep(SHORTEST_REST).await;
                    rest = SHORTEST_REST;
                }
                Err(_) => {
                    self.world.sleep(rest).await;
                    rest = (rest * 2).min(LONGEST_REST);
                    continue;
                }
            }
            self.sleep_until_due().await;
        }
    }

    async fn sleep_until_due(&self) {
        loop {
            let now_ms = self.world.clock_ms();
            let Some(due_ms) = self.alarm.due_ms() else {
                self.alarm.changed().await;
                continue;
            };
            let left_ms = due_ms.saturating_sub(now_ms);
            let Ok(left_ms @ 1..) = u64::try_from(left_ms) else {
                return;
            };
            tokio::select! {
                biased;
                () = self.alarm.changed() => {}
                () = self.world.sleep(Duration::from_millis(left_ms)) => {}
            }
        }
    }

    /// Sweeps, and begins every re-ask that is due. Tells whether this did anything, or nothing was due.
    async fn pass(&self, asking: &Arc<Semaphore>) -> Result<bool, StoreError> {
        let now_ms = self.world.clock_ms();
        self.alarm.clear(now_ms);
        let answer = self.ledger.sweep().await?;
        let mut is_progress = self.wake(&answer.reply);
        let is_due = answer.next_due_ms.is_some_and(|due_ms| due_ms <= now_ms);
        if let (true, Some(retention_ms)) = (is_due, self.ledger.retention_ms()) {
            while self.begin_ask(retention_ms, asking).await? {
                is_progress = true;
            }
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

    /// Begins one re-ask, if one is due; it then runs in a task of its own.
    async fn begin_ask(&self, retention_ms: i64, asking: &Arc<Semaphore>) -> Result<bool, StoreError> {
        let Ok(permit) = asking.clone().acquire_owned().await else {
            return Ok(false);
        };
        let begun_ms = self.world.clock_ms();
        let begun = self.world.since_boot();
        let Reply::Ask { slot, reference, request, settle_token, asks, alone } =
            self.ledger.begin_ask(retention_ms).await?
        else {
            return Ok(false);
        };
        let ask = Ask { slot, reference, request, settle_token, asks, is_alone: alone, begun_ms, begun };
        let sweeper = self.clone();
        self.world.spawn(Box::pin(async move {
            sweeper.ask(ask).await;
            drop(permit);
        }));
        Ok(true)
    }

    async fn ask(&self, ask: Ask) {
        self.world.reach(points::BEFORE_REASK).await;
        let outcome = match serde_json::from_str::<Outbound>(&ask.request) {
            Ok(outbound) => {
                let deadline = ask.begun + self.policy.send_deadline;
                self.provider.dispatch(&outbound, &ask.reference, deadline).await
            }
            Err(error) => Outcome::NotSent { why: error.to_string() },
        };
        self.world.reach(points::AFTER_REASK).await;
        self.settle(&ask, outcome).await;
        self.wakeups.settled(&ask.slot);
    }

    /// A success settles. A definite refusal does only where every earlier request was dead when this one took its
    /// lease: had one of them acted, the provider would have replayed it. Whatever the store does not hear of, the next
    /// re-ask finds out again, once the settle lease is out.
    async fn settle(&self, ask: &Ask, outcome: Outcome) {
        let later = match outcome {
            Outcome::Success { message_id } => {
                return self.record(ask, &message_id).await;
            }
            Outcome::Refused(_) if ask.is_alone => {
                let _ = self.ledger.release_asked(&ask.slot, ask.settle_token).await;
                return;
            }
            // Only a re-ask that begins after this one is dead can be alone, and only that can settle a refusal. The
            // store wrote the beginning down a little later than it was taken here.
            Outcome::Refused(_) => self.policy.dead_after() + SHORTEST_REST,
            Outcome::NotSent { .. } | Outcome::Ambiguous { .. } => Duration::ZERO,
        };
        let now_ms = self.world.clock_ms();
        let next_ask_ms =
            now_ms.saturating_add(as_ms(backoff(ask.asks))).max(ask.begun_ms.saturating_add(as_ms(later)));
        let _ = self.ledger.ask_later(&ask.slot, ask.settle_token, next_ask_ms).await;
    }

    async fn record(&self, ask: &Ask, message_id: &str) {
        let answer = sent(&ask.slot, message_id);
        let lease_end = ask.begun + self.policy.lease;
        let mut pause = SHORTEST_REST;
        while self.ledger.done(&ask.slot, &ask.reference, &answer).await.is_err()
            && self.world.since_boot() < lease_end
        {
            self.world.sleep(pause).await;
            pause *= 2;
        }
    }
}

/// 1, 2, 4, 8 … seconds after the first, second, third … re-ask, and never more than a minute.
fn backoff(asks: u32) -> Duration {
    let exponent = asks.saturating_sub(1).min(6);
    Duration::from_secs(1 << exponent).min(LONGEST_REST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_between_re_asks_grow_to_a_minute() {
        let pauses: Vec<u64> = (1..=8).map(|asks| backoff(asks).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
