//! The retry queue: a sorted set of what is to be attempted again, by its time (W8).

use std::{sync::Arc, time::Duration};

use onceproof_gateway::world::SharedWorld;
use serde_json::{Value, json};

use super::{client::Client, diary::Diary, failure::Failure, reading::Reading, webhook::Webhook};
use crate::{sim::actors::redis::Redis, subject::resp::Reply};

/// Where it is.
const KEY: &str = "webhook:retry:zset";
/// So often a failed event is attempted again.
const MAX_ATTEMPTS: u32 = 5;
/// The first pause; each is twice the one before…
const BACKOFF: Duration = Duration::from_secs(1);
/// …up to this.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);
/// So many are taken at once.
const BATCH: &str = "50";

/// What waits, for whoever adds to it and takes from it.
pub struct RetryQueue {
    world: SharedWorld,
    redis: Arc<Client>,
    reading: Arc<dyn Reading>,
    diary: Diary,
}

/// One that waits.
pub struct Item {
    /// As it stands in the set.
    pub raw: String,
    /// What is attempted.
    pub webhook: Webhook,
    /// Which attempt it is, from 1; the first of all is not counted.
    pub attempts: u32,
}

impl Item {
    fn read(raw: &str) -> Option<Self> {
        let item: Value = serde_json::from_str(raw).ok()?;
        let webhook = Webhook { id: item["eventId"].as_str()?.into(), event: item["event"].clone() };
        let attempts = u32::try_from(item["attempts"].as_u64()?).ok()?;
        Some(Self { raw: raw.into(), webhook, attempts })
    }
}

impl RetryQueue {
    /// The queue in this Redis.
    pub fn new(world: &SharedWorld, redis: &Arc<Client>, reading: &Arc<dyn Reading>, diary: Diary) -> Self {
        Self { world: world.clone(), redis: Arc::clone(redis), reading: Arc::clone(reading), diary }
    }

    /// Has a webhook attempted again, if there are attempts left.
    ///
    /// # Errors
    /// When it is not queued, as far as is known.
    pub async fn enqueue(&self, webhook: &Webhook, attempts: u32, why: &Failure) -> Result<(), Failure> {
        if is_over(attempts) {
            self.diary.tell(webhook, attempts, "given up");
            return self.reading.give_up(webhook.clone(), why.to_string()).await;
        }
        let pause = self.reading.pause(backoff(attempts));
        let next_ms = self.world.clock_ms() + pause.as_millis() as i64;
        let Webhook { id, event } = webhook;
        let item = json!({ "eventId": id, "event": event, "attempts": attempts });
        self.redis.ask(&["ZADD", KEY, &next_ms.to_string(), &item.to_string()]).await?;
        self.diary.tell(webhook, attempts, "queued");
        Ok(())
    }

    /// What is due.
    ///
    /// # Errors
    /// When Redis does not tell.
    pub async fn due(&self) -> Result<Vec<Item>, Failure> {
        let now_ms = self.world.clock_ms().to_string();
        let found = self.redis.ask(&["ZRANGEBYSCORE", KEY, "0", &now_ms, "LIMIT", "0", BATCH]).await?;
        let Reply::Array(found) = found else { return Ok(Vec::new()) };
        Ok(found.iter().filter_map(|item| Item::read(item.text()?)).collect())
    }

    /// Has one wait as long again.
    ///
    /// # Errors
    /// When that is not known to be done.
    pub async fn postpone(&self, item: &Item) -> Result<(), Failure> {
        let next_ms = self.world.clock_ms() + backoff(item.attempts).as_millis() as i64;
        self.redis.ask(&["ZADD", KEY, &next_ms.to_string(), &item.raw]).await?;
        self.diary.tell(&item.webhook, item.attempts, "postponed, its key is taken");
        Ok(())
    }

    /// Takes one out of it, for this reason.
    ///
    /// # Errors
    /// When it is not known to be out of it.
    pub async fn remove(&self, item: &Item, why: &str) -> Result<(), Failure> {
        self.redis.ask(&["ZREM", KEY, &item.raw]).await?;
        self.diary.tell(&item.webhook, item.attempts, why);
        Ok(())
    }
}

/// The pause before a retry. That of messages in an outbox is the same.
pub fn backoff(attempts: u32) -> Duration {
    (BACKOFF * 2_u32.saturating_pow(attempts.saturating_sub(1))).min(LONGEST_BACKOFF)
}

/// Whether there is no attempt of this number.
pub fn is_over(attempts: u32) -> bool {
    attempts > MAX_ATTEMPTS
}

/// When the first in the queue is due, in milliseconds since 1970: a look that no program has.
pub fn next_due_ms(redis: &Redis) -> Option<i64> {
    let found = redis.look(&["ZRANGEBYSCORE", KEY, "-inf", "+inf", "WITHSCORES", "LIMIT", "0", "1"]);
    found.get(1)?.parse().ok()
}
