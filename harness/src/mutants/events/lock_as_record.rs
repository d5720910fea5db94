//! Takes a lock on a delivery for a record of it: while the first attempt is at work, and may still die, others are told 200.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::ready;
use onceproof_gateway::{
    hint::{Hint, SharedHint},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// How long the lock is held (C).
const HELD_MS: i64 = 30_000;

/// A duplicate of what is in hand is done.
#[derive(Debug, Default)]
pub struct LockAsRecord {
    /// When each delivery was begun. Outlives every gateway, as a Redis does.
    begun_ms: Arc<Mutex<BTreeMap<String, i64>>>,
}

impl Mutation for LockAsRecord {
    fn hint(&self, world: &SharedWorld, hint: SharedHint) -> SharedHint {
        Arc::new(Lock { world: LockWorld(Arc::clone(world)), hint, begun_ms: Arc::clone(&self.begun_ms) })
    }
}

#[derive(Debug)]
struct Lock {
    world: LockWorld,
    hint: SharedHint,
    begun_ms: Arc<Mutex<BTreeMap<String, i64>>>,
}

struct LockWorld(SharedWorld);

impl std::fmt::Debug for LockWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LockWorld")
    }
}

impl Hint for Lock {
    fn mark(&self, key: &str, ttl: Duration) -> BoxFuture<()> {
        self.hint.mark(key, ttl)
    }

    fn seen(&self, key: &str) -> BoxFuture<bool> {
        let now_ms = self.world.0.clock_ms();
        let mut begun_ms = self.begun_ms.lock().expect("a panic in a gateway ends the run");
        if begun_ms.get(key).is_some_and(|begun_ms| now_ms < begun_ms + HELD_MS) {
            return Box::pin(ready(true));
        }
        begun_ms.insert(key.into(), now_ms);
        self.hint.seen(key)
    }
}
