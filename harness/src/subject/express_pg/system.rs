//! The whole of it: one process on each gateway, with the receiver and a worker, and a PostgreSQL on the host `database`.

use std::sync::Arc;

use onceproof_gateway::{
    http::serve,
    world::{BoxFuture, SharedWorld},
};

use super::{
    client::Client,
    code::Code,
    diary::Diary,
    keys::Keys,
    polls::Polls,
    prose::Prose,
    reading::Reading,
    receiver::{Receiver, router},
    retry_queue::{RetryQueue, next_due_ms},
    retry_worker::RetryWorker,
};
use crate::{
    history::Event,
    sim::{
        actors::{postgres::Postgres, redis::Redis},
        stage::Stage,
        wire::HTTP_PORT,
    },
    subject::Subject,
};

/// Begins a reading on one host.
type Begin = fn(&SharedWorld, &Arc<Client>, &Postgres) -> Arc<dyn Reading>;

/// Text C's system.
pub struct ExpressPg {
    stage: Arc<Stage>,
    redis: Redis,
    database: Postgres,
    begin: Begin,
}

impl ExpressPg {
    /// The system as the text's code has it.
    #[must_use]
    pub fn code(stage: &Arc<Stage>, redis: &Redis) -> Self {
        Self::new(stage, redis, Code::begin)
    }

    /// The system as the text's prose has it.
    #[must_use]
    pub fn prose(stage: &Arc<Stage>, redis: &Redis) -> Self {
        Self::new(stage, redis, Prose::begin)
    }

    fn new(stage: &Arc<Stage>, redis: &Redis, begin: Begin) -> Self {
        let database = Postgres::new(Arc::clone(stage));
        Self { stage: Arc::clone(stage), redis: redis.clone(), database, begin }
    }
}

impl Subject for ExpressPg {
    fn process(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        let client = Arc::new(Client::new(&world));
        let reading = (self.begin)(&world, &client, &self.database);
        let keys = Arc::new(Keys::new(&client));
        let diary = Diary { stage: Arc::clone(&self.stage), world: world.clone(), host: host.into() };
        let queue = Arc::new(RetryQueue::new(&world, &client, &reading, diary));
        let redis = self.redis.clone();
        let polls = Polls::new(&world, redis.asked(), move || next_due_ms(&redis));
        let worker = RetryWorker {
            world: world.clone(),
            keys: Arc::clone(&keys),
            queue: Arc::clone(&queue),
            reading: Arc::clone(&reading),
        };
        world.spawn(Box::pin(worker.run(polls)));
        Box::pin(async move {
            let router = router(Receiver { world: world.clone(), keys, reading, queue });
            serve(world, HTTP_PORT, router).await.expect("a gateway binds its port");
        })
    }

    /// It has no policy.
    fn upgrade(&self, _host: &str, _policy: &toml::Table) {}

    fn database(&self) -> Option<&Postgres> {
        Some(&self.database)
    }

    /// Its dead letters; it keeps no records (W8).
    fn records(&self, _now_ms: u64) -> Vec<Event> {
        let letters = self.database.dead_letters().into_iter();
        let op = |payload: &str| self.stage.operation(payload).into();
        letters.map(|letter| Event::DeadLetter { op: op(&letter.payload), why: letter.error }).collect()
    }

    /// It counts nothing.
    fn metrics(&self, _now_ms: u64) -> Vec<Event> {
        Vec::new()
    }
}
