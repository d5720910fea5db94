//! Replays a body without its headers.

use std::sync::Arc;

use onceproof_gateway::{
    store::{Answer, Command, Reply, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// A stored answer is status and body.
#[derive(Debug)]
pub struct NoHeaders;

impl Mutation for NoHeaders {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Stripping(store))
    }
}

struct Stripping(Arc<dyn Store>);

impl Store for Stripping {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        let answer = self.0.execute(command);
        Box::pin(async move {
            let mut answer = answer.await?;
            if let Reply::Meets { view } = &mut answer.reply
                && let Some(stored) = &mut view.answer
            {
                stored.headers.clear();
            }
            Ok(answer)
        })
    }
}
