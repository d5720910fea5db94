//! The fast hint: what may spare the database a question.
//!
//! It coordinates nothing and decides nothing (W5). A key that it has seen was committed; of a key that it has not
//! seen it knows nothing, because it may forget any of them at any time.

use std::time::Duration;

use crate::world::BoxFuture;

/// Remembers keys for a while.
pub trait Hint: Send + Sync + 'static {
    /// Whether `key` was marked, as far as is remembered.
    fn seen(&self, key: &str) -> BoxFuture<Result<bool, HintError>>;

    /// Remembers `key` for `ttl`. Called only once what the key stands for is committed.
    fn mark(&self, key: &str, ttl: Duration) -> BoxFuture<Result<(), HintError>>;
}

/// A hint that did not answer. It is no more than a missing hint: whoever asked goes to the database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no hint: {0}")]
pub struct HintError(pub String);
