//! The whole of it: one process on each gateway, with the receiver and a worker, and a PostgreSQL on the host `database`.

use std::sync::Arc;

use onceproof_gateway::{
    http::serve,
    world::{BoxFuture, SharedWorld},
};

use super::{
    Decisions,
    client::Client,
    code::Code,
    diary::Diary,
    keys::Keys,
    polls::Polls,
    prose::Prose,
    reading::Reading,
    receiver::{EVERY_PROVIDER, ONE_PROVIDER, Receiver, router},
    replying::Replying,
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
    subject::{ReferenceGateway, Subject, keyed_reply::KeyedReplies},
};

/// Begins a reading on one host.
type Begin = fn(&SharedWorld, &Arc<Keys>, &Postgres, Replying, Decisions) -> Arc<dyn Reading>;

/// Text C's system.
pub struct ExpressPg {
    stage: Arc<Stage>,
    redis: Redis,
    database: Postgres,
    begin: Begin,
    decisions: Decisions,
    /// Through which replies go, where they bear a key.
    gateway: ReferenceGateway,
}

impl ExpressPg {
    /// The system as the text's code has it.
    #[must_use]
    pub fn code(stage: &Arc<Stage>, redis: &Redis, decisions: Decisions, gateway: ReferenceGateway) -> Self {
        Self::new(stage, redis, Code::begin, decisions, gateway)
    }

    /// The system as the text's prose has it.
    #[must_use]
    pub fn prose(stage: &Arc<Stage>, redis: &Redis, decisions: Decisions, gateway: ReferenceGateway) -> Self {
        Self::new(stage, redis, Prose::begin, decisions, gateway)
    }

    fn new(
        stage: &Arc<Stage>,
        redis: &Redis,
        begin: Begin,
        decisions: Decisions,
        gateway: ReferenceGateway,
    ) -> Self {
        let gateway = gateway.with_store_beside();
        let database = Postgres::new(Arc::clone(stage));
        Self { stage: Arc::clone(stage), redis: redis.clone(), database, begin, decisions, gateway }
    }
}

impl Subject for ExpressPg {
    fn process(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        let (client, decisions) = (Arc::new(Client::new(&world)), self.decisions);
        let keys = Keys::new(&client);
        let keys = Arc::new(if decisions.owned_keys { keys.owned(&world) } else { keys });
        let keyed = KeyedReplies { world: world.clone(), host: host.into(), stage: Arc::clone(&self.stage) };
        let replying = Replying { world: world.clone(), keyed: decisions.keyed_reply.then_some(keyed) };
        let reading = (self.begin)(&world, &keys, &self.database, replying, decisions);
        let diary = Diary { stage: Arc::clone(&self.stage), world: world.clone(), host: host.into() };
        let queue = Arc::new(RetryQueue::new(&world, &client, &reading, diary));
        let redis = self.redis.clone();
        let polls = Polls::new(&world, redis.asked(), move || next_due_ms(&redis));
        let worker = RetryWorker {
            world: world.clone(),
            keys: Arc::clone(&keys),
            queue: Arc::clone(&queue),
            reading: Arc::clone(&reading),
            decisions,
        };
        world.spawn(Box::pin(worker.run(polls)));
        let receiver = Receiver { world: world.clone(), keys, reading, queue, decisions };
        if decisions.keyed_reply {
            return self.gateway.process_beside(host, world, Some(router(receiver, ONE_PROVIDER)));
        }
        let router = router(receiver, EVERY_PROVIDER);
        Box::pin(async move {
            serve(world, HTTP_PORT, router).await.expect("a gateway binds its port");
        })
    }

    /// It has no policy.
    fn upgrade(&self, _host: &str, _policy: &toml::Table) {}

    fn database(&self) -> Option<&Postgres> {
        Some(&self.database)
    }

    fn has_store_beside(&self) -> bool {
        self.decisions.keyed_reply
    }

    /// Its dead letters (W8), and the records of the gateway that it sends through, if it does: it keeps none itself.
    fn records(&self, now_ms: u64) -> Vec<Event> {
        let replies = if self.decisions.keyed_reply { self.gateway.records(now_ms) } else { Vec::new() };
        let letters = self.database.dead_letters().into_iter();
        let op = |payload: &str| self.stage.operation(payload).into();
        let letters = letters.map(|letter| Event::DeadLetter { op: op(&letter.payload), why: letter.error });
        replies.into_iter().chain(letters).collect()
    }

    /// It counts nothing.
    fn metrics(&self, _now_ms: u64) -> Vec<Event> {
        Vec::new()
    }
}
