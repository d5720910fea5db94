//! Stores that play many short lives. Opening one, and preparing its statements, costs more than a short case does.

use std::{
    cell::RefCell,
    ops::{Deref, DerefMut},
};

use onceproof_gateway::store::{OpenError, SqliteStore};

/// More are closed instead: no case has so many.
const KEPT_MAX: usize = 16;

thread_local! {
    static IDLE: RefCell<Vec<SqliteStore>> = const { RefCell::new(Vec::new()) };
}

/// An empty store, given back when it is dropped.
pub struct Pooled {
    store: Option<SqliteStore>,
}

impl Pooled {
    /// A store as good as new.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn take() -> Result<Self, OpenError> {
        let idle = IDLE.with_borrow_mut(Vec::pop);
        let store = match idle {
            Some(mut store) => {
                store.clear()?;
                store
            }
            None => SqliteStore::in_memory()?,
        };
        Ok(Self { store: Some(store) })
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if let Some(store) = self.store.take() {
            // A thread that ends has no pool any more; then the store just closes.
            let _ = IDLE.try_with(|idle| {
                let mut idle = idle.borrow_mut();
                if idle.len() < KEPT_MAX {
                    idle.push(store);
                }
            });
        }
    }
}

impl Deref for Pooled {
    type Target = SqliteStore;
    fn deref(&self) -> &SqliteStore {
        self.store.as_ref().expect("the store leaves only when this is dropped")
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut SqliteStore {
        self.store.as_mut().expect("the store leaves only when this is dropped")
    }
}
