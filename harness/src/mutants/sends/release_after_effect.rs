//! Uses a key as a lock: it is free again once the send is done.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use onceproof_gateway::{
    store::{Answer, Command, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// Success releases.
#[derive(Debug)]
pub struct ReleaseAfterEffect;

impl Mutation for ReleaseAfterEffect {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Unlocking { store, tokens: Mutex::default() })
    }
}

struct Unlocking {
    store: Arc<dyn Store>,
    /// The token of each claim, by its reference.
    tokens: Mutex<BTreeMap<String, i64>>,
}

impl Store for Unlocking {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        let mut tokens = self.tokens.lock().expect("a panic in a store ends the run");
        if let Command::Mark { reference, token, .. } = &command {
            tokens.insert(reference.clone(), *token);
        }
        let token = command.reference().and_then(|reference| tokens.get(reference).copied());
        self.store.execute(match (command, token) {
            (Command::Done { slot, now_ms, .. }, Some(token)) => Command::Release { slot, token, now_ms },
            (command, _) => command,
        })
    }
}
