//! Which store a policy keeps its records in.

use std::sync::{Arc, Mutex};

use super::{EmbeddedStore, OpenError, SqliteStore, Store};
use crate::policy::{Answers, Policy};

/// The store of a gateway that plays this policy: `durable`, or one in its own memory, which its next life does not
/// find again (S5, S10).
///
/// # Errors
/// What opening a database in memory says.
pub fn for_policy(policy: &Policy, durable: Arc<dyn Store>) -> Result<Arc<dyn Store>, OpenError> {
    match policy.answers {
        Answers::Durable => Ok(durable),
        Answers::Memory => {
            let sqlite = Arc::new(Mutex::new(SqliteStore::in_memory()?));
            Ok(Arc::new(EmbeddedStore::new(sqlite)))
        }
    }
}
