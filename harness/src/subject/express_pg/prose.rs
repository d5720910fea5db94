//! The text's prose, where it says more than the code does: a transactional outbox (W10), a known id is a duplicate
//! (W9), a failure takes its key along, jitter, and a table of dead letters (W8).

use std::{sync::Arc, time::Duration};

use onceproof_gateway::world::{BoxFuture, SharedWorld};

use super::{
    Decisions,
    failure::Failure,
    keys::Keys,
    outbox_worker::OutboxWorker,
    points::AFTER_INSERT,
    pool::{Client, Pool},
    reading::Reading,
    replying::Replying,
    webhook::Webhook,
};
use crate::sim::actors::postgres::{Postgres, SqlError, Statement};

/// A pause is up to so much shorter or longer, in percent: the text gives no number.
const JITTER_PERCENT: u32 = 20;

/// The prose.
pub struct Prose {
    world: SharedWorld,
    pool: Arc<Pool>,
    keys: Arc<Keys>,
}

impl Prose {
    /// The prose on one host, with a worker that publishes.
    pub fn begin(
        world: &SharedWorld,
        keys: &Arc<Keys>,
        database: &Postgres,
        replying: Replying,
        _decisions: Decisions,
    ) -> Arc<dyn Reading> {
        let pool = Pool::new(world);
        let worker = OutboxWorker::new(world, &pool, database, replying);
        world.spawn(Box::pin(worker.run()));
        Arc::new(Self { world: world.clone(), pool, keys: Arc::clone(keys) })
    }
}

impl Reading for Prose {
    fn process(&self, webhook: Webhook) -> BoxFuture<Result<(), Failure>> {
        let (world, pool) = (self.world.clone(), Arc::clone(&self.pool));
        Box::pin(async move {
            let mut client = pool.client().await?;
            let done = transaction(&world, &mut client, &webhook).await;
            match client.end(done).await {
                Err(Failure::Sql(SqlError::UniqueViolation)) => Ok(()),
                done => done,
            }
        })
    }

    fn pause(&self, backoff: Duration) -> Duration {
        jittered(&self.world, backoff)
    }

    fn after_failed_retry(&self, webhook: Webhook) -> BoxFuture<Result<(), Failure>> {
        let keys = Arc::clone(&self.keys);
        Box::pin(async move { keys.release(&webhook.id).await })
    }

    fn give_up(&self, webhook: Webhook, why: String) -> BoxFuture<Result<(), Failure>> {
        let (world, pool) = (self.world.clone(), Arc::clone(&self.pool));
        Box::pin(async move { bury(&world, &pool, &webhook, why).await })
    }
}

/// Keeps a webhook that is given up.
pub async fn bury(
    world: &SharedWorld,
    pool: &Arc<Pool>,
    webhook: &Webhook,
    why: String,
) -> Result<(), Failure> {
    let mut client = pool.client().await?;
    let buried = client.query(dead_letter(world, webhook.event.to_string(), why)).await;
    client.end(buried.map(drop)).await
}

/// Inserts a webhook and, in the same transaction, what is to be published of it.
pub async fn transaction(world: &SharedWorld, client: &mut Client, webhook: &Webhook) -> Result<(), Failure> {
    client.query(Statement::Begin).await?;
    let (event_id, payload) = (webhook.id.clone(), webhook.event.to_string());
    client.query(Statement::InsertWebhook { event_id, payload: payload.clone() }).await?;
    world.reach(AFTER_INSERT).await;
    client.query(Statement::InsertMessage { payload, due_ms: world.clock_ms() }).await?;
    client.query(Statement::Commit).await?;
    Ok(())
}

/// A pause of about this length.
pub fn jittered(world: &SharedWorld, backoff: Duration) -> Duration {
    let mut drawn = [0; 4];
    world.fill_random(&mut drawn);
    let percent = 100 - JITTER_PERCENT + u32::from_be_bytes(drawn) % (2 * JITTER_PERCENT + 1);
    backoff * percent / 100
}

/// What is given up, for whoever looks into it.
pub fn dead_letter(world: &SharedWorld, payload: String, error: String) -> Statement {
    Statement::InsertDeadLetter { payload, error, failed_at_ms: world.clock_ms() }
}
