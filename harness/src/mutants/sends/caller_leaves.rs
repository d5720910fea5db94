//! Frees the key of a caller that hangs up.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    body::Body,
    extract::Request,
    middleware::{self, Next},
};
use http::Response;
use onceproof_gateway::{
    http::Front,
    store::{Answer, Command, Reply, Slot, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use super::field_order::slot;
use crate::mutants::Mutation;

/// Whoever hangs up has changed his mind.
#[derive(Debug, Default)]
pub struct CallerLeaves {
    tokens: Tokens,
}

/// The token of the last claim of each key.
type Tokens = Arc<Mutex<BTreeMap<Slot, i64>>>;

impl Mutation for CallerLeaves {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Noting { store, tokens: Arc::clone(&self.tokens) })
    }

    fn front(&self, world: &SharedWorld, store: &Arc<dyn Store>) -> Option<Front> {
        let guard = Guard {
            slot: None,
            tokens: Arc::clone(&self.tokens),
            store: Arc::clone(store),
            world: Arc::clone(world),
        };
        Some(Front::new(move |router| {
            let guard = guard.clone();
            router.layer(middleware::from_fn(move |request, next| attend(guard.clone(), request, next)))
        }))
    }
}

async fn attend(mut guard: Guard, request: Request, next: Next) -> Response<Body> {
    guard.slot = slot(&request);
    let response = next.run(request).await;
    guard.slot = None;
    response
}

/// Dropped with a slot, it frees its key.
#[derive(Clone)]
struct Guard {
    slot: Option<Slot>,
    tokens: Tokens,
    store: Arc<dyn Store>,
    world: SharedWorld,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        let token = self.tokens.lock().ok().and_then(|tokens| tokens.get(&slot).copied());
        if let Some(token) = token {
            let release = Command::Release { slot, token, now_ms: self.world.clock_ms() };
            let released = self.store.execute(release);
            self.world.spawn(Box::pin(async move {
                // There is nobody left to tell.
                let _ = released.await;
            }));
        }
    }
}

struct Noting {
    store: Arc<dyn Store>,
    tokens: Tokens,
}

impl Store for Noting {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        let claimed = match &command {
            Command::Claim { slot, .. } => Some(slot.clone()),
            _ => None,
        };
        let (answer, tokens) = (self.store.execute(command), Arc::clone(&self.tokens));
        Box::pin(async move {
            let answer = answer.await?;
            if let (Some(slot), Reply::Claimed { token }) = (claimed, &answer.reply) {
                tokens.lock().expect("a panic in a gateway ends the run").insert(slot, *token);
            }
            Ok(answer)
        })
    }
}
