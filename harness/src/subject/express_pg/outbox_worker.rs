//! The worker that publishes what is in the outbox (W10): it locks a message, publishes it, and deletes it in the same
//! transaction. Whoever dies between publishing and COMMIT has it published again, and the text names no id by which the
//! other side could tell.

use std::sync::Arc;

use onceproof_gateway::{points, world::SharedWorld};

use super::{
    failure::Failure,
    polls::Polls,
    pool::{Client, Pool},
    prose::{dead_letter, jittered},
    replying::Replying,
    retry_queue::{backoff, is_over},
    webhook::Webhook,
};
use crate::sim::actors::postgres::{Answer, Message, Postgres, Statement};

/// The worker of one process.
pub struct OutboxWorker {
    world: SharedWorld,
    pool: Arc<Pool>,
    polls: Polls,
    replying: Replying,
}

impl OutboxWorker {
    /// A worker on the outbox of this database.
    pub fn new(world: &SharedWorld, pool: &Arc<Pool>, database: &Postgres, replying: Replying) -> Self {
        let (news, database) = (database.ended(), database.clone());
        let polls = Polls::new(world, news, move || database.next_due_ms());
        Self { world: world.clone(), pool: Arc::clone(pool), polls, replying }
    }

    /// Works for ever.
    pub async fn run(mut self) {
        loop {
            let found = match self.polls.is_due() {
                true => self.work().await,
                false => Ok(false),
            };
            if !matches!(found, Ok(true)) {
                self.polls.next().await;
            }
        }
    }

    /// Publishes one message, if one is due.
    async fn work(&self) -> Result<bool, Failure> {
        let mut client = self.pool.client().await?;
        let done = self.transaction(&mut client).await;
        let found = client.end(done).await?;
        if found {
            self.world.reach(points::AFTER_OUTBOX_RECORD).await;
        }
        Ok(found)
    }

    async fn transaction(&self, client: &mut Client) -> Result<bool, Failure> {
        client.query(Statement::Begin).await?;
        let taken = client.query(Statement::TakeMessage { now_ms: self.world.clock_ms() }).await?;
        let Answer::Message(Some(message)) = taken else {
            client.query(Statement::Commit).await?;
            return Ok(false);
        };
        self.world.reach(points::BEFORE_OUTBOX_SEND).await;
        let published = self.publish(&message).await;
        self.world.reach(points::AFTER_OUTBOX_SEND).await;
        for statement in self.outcome(&message, published) {
            client.query(statement).await?;
        }
        client.query(Statement::Commit).await?;
        Ok(true)
    }

    async fn publish(&self, message: &Message) -> Result<(), String> {
        let event = serde_json::from_str(&message.payload).map_err(|error| error.to_string())?;
        let webhook = Webhook::of(event).ok_or("missing event id")?;
        self.replying.reply(&webhook).await
    }

    /// What is written about a message that was published, or was not.
    fn outcome(&self, message: &Message, published: Result<(), String>) -> Vec<Statement> {
        let (id, attempts) = (message.id, message.attempts + 1);
        match published {
            Ok(()) => vec![Statement::DeleteMessage { id }],
            Err(why) if is_over(attempts) => {
                vec![dead_letter(&self.world, message.payload.clone(), why), Statement::DeleteMessage { id }]
            }
            Err(_) => {
                let pause = jittered(&self.world, backoff(attempts));
                let due_ms = self.world.clock_ms() + pause.as_millis() as i64;
                vec![Statement::PostponeMessage { id, attempts, due_ms }]
            }
        }
    }
}
