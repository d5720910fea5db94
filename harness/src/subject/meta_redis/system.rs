//! The whole of it: one process on each gateway, with the receiver and a worker.

use std::sync::Arc;

use onceproof_gateway::{
    http::serve,
    world::{BoxFuture, SharedWorld},
};
use serde_json::Value;

use super::{
    Decisions,
    processing::Replies,
    receiver::{Receiver, router},
};
use crate::{
    history::Event,
    sim::{actors::redis::Redis, stage::Stage, wire::HTTP_PORT},
    subject::{
        ReferenceGateway, Subject,
        bullmq::{Bell, Queue, Worker, failed, prefix},
        keyed_reply::KeyedReplies,
        redis_client::Client,
    },
};

/// Its queue, and that of its dead letters.
const EVENTS: &str = "wa-events";
const DEAD_LETTERS: &str = "wa-events-dlq";

/// Text A's system.
pub struct MetaRedis {
    stage: Arc<Stage>,
    redis: Redis,
    bell: Arc<Bell>,
    decisions: Decisions,
    /// Through which replies go, where they bear a key.
    gateway: ReferenceGateway,
}

impl MetaRedis {
    /// The system whose whole memory is this Redis.
    #[must_use]
    pub fn new(stage: Arc<Stage>, redis: Redis, decisions: Decisions, gateway: ReferenceGateway) -> Self {
        Self { stage, redis, bell: Arc::default(), decisions, gateway }
    }
}

impl Subject for MetaRedis {
    fn process(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        let (bell, decisions) = (Arc::clone(&self.bell), self.decisions);
        let (redis, queue) = (Client::new(&world, true), Queue::new(&world, EVENTS, &bell));
        let router = router(Receiver { world: world.clone(), redis, queue, decisions });
        let (keyed, serving): (_, BoxFuture<()>) = if decisions.keyed_reply {
            let (stage, world) = (Arc::clone(&self.stage), world.clone());
            let gateway = self.gateway.process_beside(host, world.clone(), Some(router));
            (Some(KeyedReplies { world, host: host.into(), stage }), gateway)
        } else {
            let served = serve(world.clone(), HTTP_PORT, router);
            (None, Box::pin(async move { served.await.expect("a gateway binds its port") }))
        };
        Box::pin(async move {
            let replies = Replies::new(&world, Queue::new(&world, DEAD_LETTERS, &bell), keyed);
            Worker::new(&world, EVENTS, &bell, Arc::new(replies)).run();
            serving.await;
        })
    }

    /// It has no policy.
    fn upgrade(&self, _host: &str, _policy: &toml::Table) {}

    /// Its dead letters (W8), and the records of the gateway that it sends through, if it does: it keeps none itself.
    fn records(&self, now_ms: u64) -> Vec<Event> {
        let replies = if self.decisions.keyed_reply { self.gateway.records(now_ms) } else { Vec::new() };
        let letters = match self.decisions.failed_is_dead_letter {
            true => failed(&self.redis, &self.stage, EVENTS),
            false => self.dead_letters(),
        };
        replies.into_iter().chain(letters).collect()
    }

    /// It counts nothing.
    fn metrics(&self, _now_ms: u64) -> Vec<Event> {
        Vec::new()
    }
}

impl MetaRedis {
    fn dead_letters(&self) -> Vec<Event> {
        let queue = prefix(DEAD_LETTERS);
        let ids = self.redis.look(&["LRANGE", &format!("{queue}:wait"), "0", "-1"]);
        let letters = ids.iter().flat_map(|id| self.redis.look(&["HGET", &format!("{queue}:{id}"), "data"]));
        letters.map(|letter| self.dead_letter(&letter)).collect()
    }

    fn dead_letter(&self, letter: &str) -> Event {
        let why = serde_json::from_str::<Value>(letter).unwrap_or_default();
        let why = why["error"].as_str().unwrap_or_default().into();
        Event::DeadLetter { op: self.stage.operation(letter).into(), why }
    }
}
