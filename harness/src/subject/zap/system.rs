//! The whole of it: one process on each gateway, with the gateway, the receiver and a worker.

use std::{sync::Arc, time::Duration};

use onceproof_gateway::world::{BoxFuture, SharedWorld};

use super::{
    Decisions,
    receiver::{Receiver, router},
    sending::Sends,
};
use crate::{
    history::Event,
    sim::{actors::redis::Redis, stage::Stage},
    subject::{
        ReferenceGateway, Subject,
        bullmq::{Bell, Queue, Worker, failed},
        redis_client::Client,
    },
};

/// Its queue.
const SENDS: &str = "send-message";
/// The text wants a window of one to five minutes in which a job's id is taken (W7).
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// Text B's system.
pub struct Zap {
    stage: Arc<Stage>,
    gateway: ReferenceGateway,
    bell: Arc<Bell>,
    redis: Redis,
    decisions: Decisions,
}

impl Zap {
    /// The system that sends through this gateway, and whose queue and marks are in the Redis of its world.
    #[must_use]
    pub fn new(stage: Arc<Stage>, gateway: ReferenceGateway, redis: Redis, decisions: Decisions) -> Self {
        Self { stage, gateway, bell: Arc::default(), redis, decisions }
    }
}

impl Subject for Zap {
    fn process(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        let queue = || Queue::new(&world, SENDS, &self.bell);
        let sends = Sends::new(&world, host, &self.stage, queue());
        let worker = Worker::new(&world, SENDS, &self.bell, Arc::new(sends)).keeping(WINDOW);
        let (redis, decisions) = (Client::new(&world, true), self.decisions);
        let receiver = Receiver { world: world.clone(), redis, queue: queue(), decisions };
        let gateway = self.gateway.process_beside(host, world, Some(router(receiver)));
        Box::pin(async move {
            worker.run();
            gateway.await;
        })
    }

    fn stop(&self, host: &str) -> bool {
        self.gateway.stop(host)
    }

    fn upgrade(&self, host: &str, policy: &toml::Table) {
        self.gateway.upgrade(host, policy);
    }

    fn records(&self, now_ms: u64) -> Vec<Event> {
        let letters = match self.decisions.failed_is_dead_letter {
            true => failed(&self.redis, &self.stage, SENDS),
            false => Vec::new(),
        };
        self.gateway.records(now_ms).into_iter().chain(letters).collect()
    }

    fn metrics(&self, now_ms: u64) -> Vec<Event> {
        self.gateway.metrics(now_ms)
    }
}
