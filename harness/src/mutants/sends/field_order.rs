//! Compares content by its bytes: another order of the fields is other content.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    middleware::{self, Next},
};
use http::Response;
use onceproof_gateway::{
    hex,
    http::Front,
    store::{Answer, Command, Slot, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};
use sha2::{Digest as _, Sha256};

use crate::mutants::Mutation;

/// More than any body of a plan.
const BODY_MAX: usize = 16 * 1024 * 1024;

/// The fingerprint is a digest of the bytes.
#[derive(Debug, Default)]
pub struct FieldOrder {
    /// Of the last request with a key.
    digests: Arc<Mutex<BTreeMap<Slot, String>>>,
}

impl Mutation for FieldOrder {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Comparing { store, digests: Arc::clone(&self.digests) })
    }

    fn front(&self, _world: &SharedWorld, _store: &Arc<dyn Store>) -> Option<Front> {
        Some(digesting(&self.digests, |body| Some(body)))
    }
}

/// Digests of requests, by their keys.
type Digests = Arc<Mutex<BTreeMap<Slot, String>>>;

/// What of a body is compared; none leaves it to the gateway.
type Compared = fn(&[u8]) -> Option<&[u8]>;

/// Middleware that notes what is to be compared of each request with a key.
pub(super) fn digesting(digests: &Digests, compared: Compared) -> Front {
    let digests = Arc::clone(digests);
    Front::new(move |router| {
        let digests = Arc::clone(&digests);
        router.layer(middleware::from_fn(move |request, next| {
            digest(Arc::clone(&digests), compared, request, next)
        }))
    })
}

async fn digest(digests: Digests, compared: Compared, request: Request, next: Next) -> Response<Body> {
    let Some(slot) = slot(&request) else {
        return next.run(request).await;
    };
    let (head, body) = request.into_parts();
    // A body that breaks off is no content.
    let Ok(body) = to_bytes(body, BODY_MAX).await else {
        return next.run(Request::from_parts(head, Body::empty())).await;
    };
    if let Some(compared) = compared(&body) {
        let digest = format!("bytes:{}", hex::encode(&Sha256::digest(compared)));
        digests.lock().expect("a panic in a gateway ends the run").insert(slot, digest);
    }
    next.run(Request::from_parts(head, Body::from(body))).await
}

/// The key of a send, in its scope.
pub(super) fn slot(request: &Request) -> Option<Slot> {
    let key = request.headers().get("idempotency-key")?.to_str().ok()?;
    let (_, scope) = request.uri().path().split_once("/instances/")?;
    Some(Slot { scope: scope.into(), key: key.trim_matches('"').into() })
}

/// A store that is told digests of our own.
pub(super) struct Comparing {
    pub(super) store: Arc<dyn Store>,
    pub(super) digests: Digests,
}

impl Store for Comparing {
    fn execute(&self, mut command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        if let Command::Claim { slot, fingerprint, .. } = &mut command
            && let Some(digest) = self.digests.lock().expect("a panic in a gateway ends the run").get(slot)
        {
            fingerprint.clone_from(digest);
        }
        self.store.execute(command)
    }
}
