//! Acknowledges a delivery, and makes it durable afterwards.

use std::sync::Arc;

use onceproof_gateway::{
    store::{Answer, Command, EventCommand, EventReply, Reply, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// By then the store has heard of it, if it can.
const SOON_MS: i64 = 1_000;

/// The store is told when the sender has its answer.
#[derive(Debug)]
pub struct AckFirst;

impl Mutation for AckFirst {
    fn store(&self, world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Hurried { world: Arc::clone(world), store })
    }
}

struct Hurried {
    world: SharedWorld,
    store: Arc<dyn Store>,
}

impl Store for Hurried {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        let Command::Event(EventCommand::Receive { items, .. }) = &command else {
            return self.store.execute(command);
        };
        let new = items.len() as u32;
        let reply = Reply::Event(EventReply::Received { new, known: 0, dead: 0 });
        let stored = self.store.execute(command);
        self.world.spawn(Box::pin(async move {
            // Its sender has gone.
            let _ = stored.await;
        }));
        // When the workers look for it.
        let next_work_ms = Some(self.world.clock_ms().saturating_add(SOON_MS));
        Box::pin(async move { Ok(Answer { reply, next_due_ms: None, next_work_ms }) })
    }
}
