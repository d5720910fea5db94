//! Does the work before it answers.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    middleware::{self, Next},
};
use http::Response;
use onceproof_gateway::{
    http::Front,
    store::{Command, EventCommand, Store},
    world::SharedWorld,
};

use crate::mutants::Mutation;

/// How often it is seen whether the work is done, and how often at most.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LOOKS_MAX: u32 = 400;

/// A delivery is answered when all work is done.
#[derive(Debug)]
pub struct Inline;

impl Mutation for Inline {
    fn front(&self, world: &SharedWorld, store: &Arc<dyn Store>) -> Option<Front> {
        let (world, store) = (Arc::clone(world), Arc::clone(store));
        Some(Front::new(move |router| {
            let (world, store) = (Arc::clone(&world), Arc::clone(&store));
            router.layer(middleware::from_fn(move |request, next| {
                wait(Arc::clone(&world), Arc::clone(&store), request, next)
            }))
        }))
    }
}

async fn wait(world: SharedWorld, store: Arc<dyn Store>, request: Request, next: Next) -> Response<Body> {
    let is_webhook = request.uri().path().starts_with("/webhooks/");
    let response = next.run(request).await;
    if is_webhook && response.status().is_success() {
        for _ in 0..LOOKS_MAX {
            let look = Command::Event(EventCommand::ListDead { limit: 1 });
            if store.execute(look).await.is_ok_and(|answer| answer.next_work_ms.is_none()) {
                break;
            }
            world.sleep(LOOK_EVERY).await;
        }
    }
    response
}
