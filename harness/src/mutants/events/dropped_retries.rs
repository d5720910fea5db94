//! A worker that drops what did not succeed.

use std::sync::Arc;

use onceproof_gateway::{
    store::{Answer, Command, Done, EventCommand, Failure, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// What is to be tried again is done.
#[derive(Debug)]
pub struct DroppedRetries;

impl Mutation for DroppedRetries {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Dropping(store))
    }
}

struct Dropping(Arc<dyn Store>);

impl Store for Dropping {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        self.0.execute(match command {
            Command::Event(EventCommand::Fail { ticket, now_ms, failure: Failure::Retry { .. }, .. }) => {
                let done = Done::default();
                Command::Event(EventCommand::Complete {
                    ticket,
                    now_ms,
                    expires_ms: now_ms,
                    sweep_every_ms: 1,
                    done,
                })
            }
            command => command,
        })
    }
}
