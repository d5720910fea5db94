//! What is done with a message: the customer is answered, straight from the job and under no key (W7, W8).

use std::sync::Arc;

use onceproof_gateway::world::{BoxFuture, SharedWorld};
use serde_json::json;

use crate::subject::{
    bullmq::{ATTEMPTS, Job, Processor, Queue},
    keyed_reply::KeyedReplies,
    points::BEFORE_DEAD_LETTER,
    reply::reply,
};

/// Answers customers, and buries what cannot be answered.
pub struct Replies {
    world: SharedWorld,
    dead_letters: Arc<Queue>,
    /// Through which replies go, where they bear a key.
    keyed: Option<KeyedReplies>,
}

impl Replies {
    /// Answers from this host.
    pub fn new(world: &SharedWorld, dead_letters: Queue, keyed: Option<KeyedReplies>) -> Self {
        Self { world: world.clone(), dead_letters: Arc::new(dead_letters), keyed }
    }
}

impl Processor for Replies {
    fn process(&self, job: Job) -> BoxFuture<Result<(), String>> {
        let (world, keyed) = (self.world.clone(), self.keyed.clone());
        Box::pin(async move {
            let text = job.data["text"]["body"].as_str().unwrap_or_default();
            let (to, id) = (&job.data["from"], job.data["id"].as_str().unwrap_or("undefined"));
            match keyed {
                Some(keyed) => keyed.reply(to, text, id, job.attempts_made + 1).await,
                None => reply(&world, to, text).await,
            }
        })
    }

    fn failed(&self, job: Job, why: String) -> BoxFuture<()> {
        let (world, dead_letters) = (self.world.clone(), Arc::clone(&self.dead_letters));
        Box::pin(async move {
            if job.attempts_made < ATTEMPTS {
                return;
            }
            world.reach(BEFORE_DEAD_LETTER).await;
            let letter = json!({ "payload": job.data, "error": why, "failedAt": world.clock_ms() });
            // Nobody listens to what becomes of this.
            let _ = dead_letters.add(&letter).await;
        })
    }
}
