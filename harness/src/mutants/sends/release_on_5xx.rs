//! Takes an error of the provider, or its silence, for "not sent", and frees the key.

use std::sync::Arc;

use onceproof_gateway::{
    store::{Answer, Command, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// What is ambiguous is released.
#[derive(Debug)]
pub struct ReleaseOn5xx;

impl Mutation for ReleaseOn5xx {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Releasing(store))
    }
}

struct Releasing(Arc<dyn Store>);

impl Store for Releasing {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        self.0.execute(match command {
            Command::Unknown { slot, token, now_ms, .. } => Command::Release { slot, token, now_ms },
            command => command,
        })
    }
}
