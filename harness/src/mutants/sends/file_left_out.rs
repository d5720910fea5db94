//! Compares uploads without their files, as text D does.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use onceproof_gateway::{
    http::Front,
    store::{Slot, Store},
    world::SharedWorld,
};

use super::field_order::{Comparing, digesting};
use crate::mutants::Mutation;

/// The fingerprint of an upload ends where its file begins.
#[derive(Debug, Default)]
pub struct FileLeftOut {
    digests: Arc<Mutex<BTreeMap<Slot, String>>>,
}

impl Mutation for FileLeftOut {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Comparing { store, digests: Arc::clone(&self.digests) })
    }

    fn front(&self, _world: &SharedWorld, _store: &Arc<dyn Store>) -> Option<Front> {
        Some(digesting(&self.digests, before_the_file))
    }
}

/// What is compared of a body; none of one without a file.
fn before_the_file(body: &[u8]) -> Option<&[u8]> {
    let mark = b"filename=";
    body.windows(mark.len()).position(|bytes| bytes == mark).map(|at| &body[..at])
}
