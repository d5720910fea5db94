//! What becomes of retries, for whoever reads a history: it is in a sorted set, and nothing else would show it.

use std::sync::Arc;

use onceproof_gateway::world::SharedWorld;

use super::webhook::Webhook;
use crate::{
    history::Event,
    sim::{actors::redis, clock, stage::Stage},
};

/// The diary of one process.
pub struct Diary {
    /// Where it is written.
    pub stage: Arc<Stage>,
    /// Whose time it is.
    pub world: SharedWorld,
    /// Whose it is.
    pub host: String,
}

impl Diary {
    /// Something has become of the retry of this number.
    pub fn tell(&self, webhook: &Webhook, attempts: u32, what: &str) {
        let event = Event::Job {
            store: redis::HOST.into(),
            op: Some(self.stage.operation(&webhook.event.to_string()).into()),
            queue: "retry".into(),
            id: attempts.into(),
            what: what.into(),
            attempt: None,
            token: None,
            scope: None,
            key: None,
        };
        self.stage.record(clock::ms(self.world.since_boot()), &self.host, event);
    }
}
