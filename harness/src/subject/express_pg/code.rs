//! The text's code: the customer is answered in the middle of the transaction (W10), an id that is known is an error
//! (W9), and a retry that fails leaves its key behind and is dropped in the end (W8).

use std::{sync::Arc, time::Duration};

use onceproof_gateway::world::{BoxFuture, SharedWorld};

use super::{
    client,
    failure::Failure,
    points::AFTER_INSERT,
    pool::{Client, Pool},
    reading::Reading,
    webhook::Webhook,
};
use crate::{
    sim::actors::postgres::{Postgres, Statement},
    subject::reply::reply,
};

/// The code.
pub struct Code {
    world: SharedWorld,
    pool: Arc<Pool>,
}

impl Code {
    /// The code on one host.
    pub fn begin(
        world: &SharedWorld,
        _redis: &Arc<client::Client>,
        _database: &Postgres,
    ) -> Arc<dyn Reading> {
        Arc::new(Self { world: world.clone(), pool: Pool::new(world) })
    }
}

impl Reading for Code {
    fn process(&self, webhook: Webhook) -> BoxFuture<Result<(), Failure>> {
        let (world, pool) = (self.world.clone(), Arc::clone(&self.pool));
        Box::pin(async move {
            let mut client = pool.client().await?;
            let done = transaction(&world, &mut client, &webhook).await;
            client.end(done).await
        })
    }

    fn pause(&self, backoff: Duration) -> Duration {
        backoff
    }

    fn after_failed_retry(&self, _webhook: Webhook) -> BoxFuture<Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }

    fn give_up(&self, _webhook: Webhook, _why: String) -> BoxFuture<Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }
}

async fn transaction(world: &SharedWorld, client: &mut Client, webhook: &Webhook) -> Result<(), Failure> {
    client.query(Statement::Begin).await?;
    let (event_id, payload) = (webhook.id.clone(), webhook.event.to_string());
    client.query(Statement::InsertWebhook { event_id, payload }).await?;
    world.reach(AFTER_INSERT).await;
    reply(world, webhook.from(), webhook.text()).await.map_err(Failure::Reply)?;
    client.query(Statement::Commit).await?;
    Ok(())
}
