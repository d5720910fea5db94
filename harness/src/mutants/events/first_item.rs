//! Looks at the first item of a batch only.

use std::sync::Arc;

use onceproof_gateway::{
    store::{Answer, Command, EventCommand, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// The others are acknowledged with it.
#[derive(Debug)]
pub struct FirstItem;

impl Mutation for FirstItem {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Hasty(store))
    }
}

struct Hasty(Arc<dyn Store>);

impl Store for Hasty {
    fn execute(&self, mut command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        if let Command::Event(EventCommand::Receive { items, .. }) = &mut command {
            items.truncate(1);
        }
        self.0.execute(command)
    }
}
