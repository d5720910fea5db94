//! What a mutant is, and where it can reach into a system under test.

use std::sync::Arc;

use onceproof_gateway::{
    hint::SharedHint,
    http::Front,
    store::{Answer, Command, SqliteStore, Store, StoreError},
    world::SharedWorld,
};

use crate::history::Ability;

/// One wrong decision.
#[derive(Debug)]
pub struct Mutant {
    /// Its name, such as `get-then-set`.
    pub name: &'static str,
    /// What is decided wrongly, in one sentence.
    pub says: &'static str,
    /// The rules that it breaks.
    pub rules: &'static [&'static str],
    /// What a provider can do under which it can hurt.
    pub abilities: &'static [Ability],
    /// Makes it, anew for each run: what it remembers lives as long as that.
    pub plant: fn() -> Planted,
}

/// A mutation in its place.
pub type Planted = Arc<dyn Mutation>;

/// Where `strict` is made to decide otherwise. Whatever a mutation leaves alone is as in `strict`.
pub trait Mutation: Send + Sync + 'static {
    /// Policy fields, as TOML.
    fn fields(&self) -> &'static str {
        ""
    }

    /// The store as one gateway sees it.
    fn store(&self, world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        let _ = world;
        store
    }

    /// One command at the database.
    ///
    /// # Errors
    /// As [`SqliteStore::execute`].
    fn execute(&self, database: &mut SqliteStore, command: &Command) -> Result<Answer, StoreError> {
        database.execute(command)
    }

    /// How many of its last commits the database forgets when its host dies.
    fn commits_forgotten(&self) -> u32 {
        0
    }

    /// The hint as one gateway sees it.
    fn hint(&self, world: &SharedWorld, hint: SharedHint) -> SharedHint {
        let _ = world;
        hint
    }

    /// What stands before the routes of one gateway.
    fn front(&self, world: &SharedWorld, store: &Arc<dyn Store>) -> Option<Front> {
        let _ = (world, store);
        None
    }
}
