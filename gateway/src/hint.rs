//! A fast memory of deliveries that are durably owned (W5). It is a hint: it may forget, fail or hang, and nothing is
//! lost or done twice.

use std::{fmt::Debug, sync::Arc, time::Duration};

use futures::future::ready;

use crate::world::BoxFuture;

/// A shared handle to a hint.
pub type SharedHint = Arc<dyn Hint>;

/// Remembers keys for a while, perhaps.
pub trait Hint: Debug + Send + Sync + 'static {
    /// Remembers the key. Called only after the COMMIT of what it stands for is confirmed. A failure is nobody's.
    fn mark(&self, key: &str, ttl: Duration) -> BoxFuture<()>;

    /// Whether the key was marked. A miss and an error are the same: the database knows.
    fn seen(&self, key: &str) -> BoxFuture<bool>;
}

/// Remembers nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHint;

impl Hint for NoHint {
    fn mark(&self, _key: &str, _ttl: Duration) -> BoxFuture<()> {
        Box::pin(ready(()))
    }

    fn seen(&self, _key: &str) -> BoxFuture<bool> {
        Box::pin(ready(false))
    }
}
