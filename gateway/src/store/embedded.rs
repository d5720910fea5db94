//! A store in the gateway's own process.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::ready;

use super::{Answer, Command, SqliteStore, Store, StoreError};
use crate::world::BoxFuture;

/// A SQLite store behind a lock; whoever else holds the [`SqliteStore`] can look into it.
#[derive(Debug, Clone)]
pub struct EmbeddedStore {
    sqlite: Arc<Mutex<SqliteStore>>,
}

impl EmbeddedStore {
    /// Serves commands from this store.
    #[must_use]
    pub fn new(sqlite: Arc<Mutex<SqliteStore>>) -> Self {
        Self { sqlite }
    }
}

impl Store for EmbeddedStore {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        // A panic under the lock rolled its transaction back, so the database is whole.
        let mut sqlite = self.sqlite.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(ready(sqlite.execute(&command)))
    }
}
