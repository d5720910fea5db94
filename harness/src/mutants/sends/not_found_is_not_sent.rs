//! Takes "not found" for "not sent".

use std::sync::Arc;

use onceproof_gateway::{
    store::{Answer, Command, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::{history::Ability, mutants::Mutation};

/// It hurts where the provider can be asked.
pub const ABILITIES: &[Ability] = &[Ability::Queryable];

/// What a query does not find frees the key.
#[derive(Debug)]
pub struct NotFoundIsNotSent;

impl Mutation for NotFoundIsNotSent {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Hasty(store))
    }
}

struct Hasty(Arc<dyn Store>);

impl Store for Hasty {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        self.0.execute(match command {
            Command::AskLater { slot, settle_token, now_ms, .. } => {
                Command::ReleaseAsked { slot, settle_token, now_ms }
            }
            command => command,
        })
    }
}
