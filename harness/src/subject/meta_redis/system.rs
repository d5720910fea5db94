//! The whole of it: one process on each gateway, with the receiver and a worker.

use std::sync::Arc;

use onceproof_gateway::{
    http::serve,
    world::{BoxFuture, SharedWorld},
};
use serde_json::Value;

use super::{
    processing::Replies,
    receiver::{Receiver, router},
};
use crate::{
    history::Event,
    sim::{actors::redis::Redis, stage::Stage, wire::HTTP_PORT},
    subject::{
        Subject,
        bullmq::{Bell, Queue, Worker, prefix},
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
}

impl MetaRedis {
    /// The system whose whole memory is this Redis.
    #[must_use]
    pub fn new(stage: Arc<Stage>, redis: Redis) -> Self {
        Self { stage, redis, bell: Arc::default() }
    }
}

impl Subject for MetaRedis {
    fn process(&self, _host: &str, world: SharedWorld) -> BoxFuture<()> {
        let bell = Arc::clone(&self.bell);
        Box::pin(async move {
            let replies = Replies::new(&world, Queue::new(&world, DEAD_LETTERS, &bell));
            Worker::new(&world, EVENTS, &bell, Arc::new(replies)).run();
            let redis = Client::new(&world, true);
            let queue = Queue::new(&world, EVENTS, &bell);
            let router = router(Receiver { world: world.clone(), redis, queue });
            serve(world, HTTP_PORT, router).await.expect("a gateway binds its port");
        })
    }

    /// It has no policy.
    fn upgrade(&self, _host: &str, _policy: &toml::Table) {}

    /// Its dead letters; it keeps no records (W8).
    fn records(&self, _now_ms: u64) -> Vec<Event> {
        let queue = prefix(DEAD_LETTERS);
        let ids = self.redis.look(&["LRANGE", &format!("{queue}:wait"), "0", "-1"]);
        let letters = ids.iter().flat_map(|id| self.redis.look(&["HGET", &format!("{queue}:{id}"), "data"]));
        letters.map(|letter| self.dead_letter(&letter)).collect()
    }

    /// It counts nothing.
    fn metrics(&self, _now_ms: u64) -> Vec<Event> {
        Vec::new()
    }
}

impl MetaRedis {
    fn dead_letter(&self, letter: &str) -> Event {
        let why = serde_json::from_str::<Value>(letter).unwrap_or_default();
        let why = why["error"].as_str().unwrap_or_default().into();
        Event::DeadLetter { op: self.stage.operation(letter).into(), why }
    }
}
