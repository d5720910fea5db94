//! Marks a delivery as seen before it is durably owned.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::ready;
use onceproof_gateway::{
    hint::{Hint, SharedHint},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// The first who asks is told "new", and leaves the mark.
#[derive(Debug, Default)]
pub struct EarlyMark {
    /// Outlives every gateway, as a Redis does.
    seen: Arc<Mutex<BTreeSet<String>>>,
}

impl Mutation for EarlyMark {
    fn hint(&self, _world: &SharedWorld, _hint: SharedHint) -> SharedHint {
        Arc::new(Marks(Arc::clone(&self.seen)))
    }
}

#[derive(Debug)]
struct Marks(Arc<Mutex<BTreeSet<String>>>);

impl Hint for Marks {
    fn mark(&self, _key: &str, _ttl: Duration) -> BoxFuture<()> {
        Box::pin(ready(()))
    }

    fn seen(&self, key: &str) -> BoxFuture<bool> {
        let is_new = self.0.lock().expect("a panic in a gateway ends the run").insert(key.into());
        Box::pin(ready(!is_new))
    }
}
