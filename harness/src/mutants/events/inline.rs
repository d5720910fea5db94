//! Does the work before it answers.

use std::{sync::Arc, time::Duration};

use onceproof_gateway::{
    store::{Answer, Command, DeadFilter, EventCommand, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// How often it is seen whether the work is done, and how often at most.
const LOOK_EVERY: Duration = Duration::from_millis(250);
const LOOKS_MAX: u32 = 240;

/// A delivery is answered when all work is done.
#[derive(Debug)]
pub struct Inline;

impl Mutation for Inline {
    fn fields(&self) -> &'static str {
        "webhook_patience = \"10m\""
    }

    fn store(&self, world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Patient { world: Arc::clone(world), store })
    }
}

struct Patient {
    world: SharedWorld,
    store: Arc<dyn Store>,
}

impl Store for Patient {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        if !matches!(command, Command::Event(EventCommand::Receive { .. })) {
            return self.store.execute(command);
        }
        let (world, store) = (Arc::clone(&self.world), Arc::clone(&self.store));
        Box::pin(async move {
            let received = store.execute(command).await?;
            for _ in 0..LOOKS_MAX {
                world.sleep(LOOK_EVERY).await;
                let look = Command::Event(EventCommand::ListDead { filter: DeadFilter::default(), limit: 1 });
                if store.execute(look).await.is_ok_and(|answer| answer.next_work_ms.is_none()) {
                    break;
                }
            }
            Ok(received)
        })
    }
}
