//! The text's code: the customer is answered in the middle of the transaction (W10), an id that is known is an error
//! (W9), and a retry that fails leaves its key behind and is dropped in the end (W8).

use std::{sync::Arc, time::Duration};

use onceproof_gateway::world::{BoxFuture, SharedWorld};

use super::{
    Decisions,
    failure::Failure,
    keys::Keys,
    outbox_worker::OutboxWorker,
    points::AFTER_INSERT,
    pool::{Client, Pool},
    prose,
    reading::Reading,
    replying::Replying,
    webhook::Webhook,
};
use crate::sim::actors::postgres::{Postgres, SqlError, Statement};

/// The code.
pub struct Code {
    world: SharedWorld,
    pool: Arc<Pool>,
    keys: Arc<Keys>,
    replying: Replying,
    decisions: Decisions,
}

impl Code {
    /// The code on one host.
    pub fn begin(
        world: &SharedWorld,
        keys: &Arc<Keys>,
        database: &Postgres,
        replying: Replying,
        decisions: Decisions,
    ) -> Arc<dyn Reading> {
        let pool = Pool::new(world);
        if decisions.outbox {
            let worker = OutboxWorker::new(world, &pool, database, replying.clone());
            world.spawn(Box::pin(worker.run()));
        }
        Arc::new(Self { world: world.clone(), pool, keys: Arc::clone(keys), replying, decisions })
    }
}

impl Reading for Code {
    fn process(&self, webhook: Webhook) -> BoxFuture<Result<(), Failure>> {
        let (world, pool) = (self.world.clone(), Arc::clone(&self.pool));
        let (replying, decisions) = (self.replying.clone(), self.decisions);
        Box::pin(async move {
            let mut client = pool.client().await?;
            let done = match decisions.outbox {
                true => prose::transaction(&world, &mut client, &webhook).await,
                false => transaction(&world, &mut client, &webhook, &replying).await,
            };
            match client.end(done).await {
                Err(Failure::Sql(SqlError::UniqueViolation)) if decisions.violation_is_duplicate => Ok(()),
                done => done,
            }
        })
    }

    fn pause(&self, backoff: Duration) -> Duration {
        backoff
    }

    fn after_failed_retry(&self, webhook: Webhook) -> BoxFuture<Result<(), Failure>> {
        let keys = self.decisions.failed_retry_releases.then(|| Arc::clone(&self.keys));
        Box::pin(async move {
            match keys {
                Some(keys) => keys.release(&webhook.id).await,
                None => Ok(()),
            }
        })
    }

    fn give_up(&self, webhook: Webhook, why: String) -> BoxFuture<Result<(), Failure>> {
        if !self.decisions.dead_letters {
            return Box::pin(async { Ok(()) });
        }
        let (world, pool) = (self.world.clone(), Arc::clone(&self.pool));
        Box::pin(async move { prose::bury(&world, &pool, &webhook, why).await })
    }
}

async fn transaction(
    world: &SharedWorld,
    client: &mut Client,
    webhook: &Webhook,
    replying: &Replying,
) -> Result<(), Failure> {
    client.query(Statement::Begin).await?;
    let (event_id, payload) = (webhook.id.clone(), webhook.event.to_string());
    client.query(Statement::InsertWebhook { event_id, payload }).await?;
    world.reach(AFTER_INSERT).await;
    replying.reply(webhook).await.map_err(Failure::Reply)?;
    client.query(Statement::Commit).await?;
    Ok(())
}
