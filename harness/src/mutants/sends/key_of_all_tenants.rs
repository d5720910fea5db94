//! One key space for all tenants: that of the first.

use std::sync::Arc;

use onceproof_gateway::{
    store::{Answer, Command, Slot, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::{mutants::Mutation, sim::actors::producer::TENANTS};

/// The instance is not part of a scope.
#[derive(Debug)]
pub struct KeyOfAllTenants;

impl Mutation for KeyOfAllTenants {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Shared(store))
    }
}

struct Shared(Arc<dyn Store>);

impl Store for Shared {
    fn execute(&self, mut command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        if let Command::Claim { slot, .. }
        | Command::Mark { slot, .. }
        | Command::Done { slot, .. }
        | Command::Unknown { slot, .. }
        | Command::Release { slot, .. }
        | Command::Fence { slot, .. }
        | Command::Read { slot, .. } = &mut command
        {
            share(slot);
        }
        self.0.execute(command)
    }
}

fn share(slot: &mut Slot) {
    if let Some((_, route)) = slot.scope.split_once('/') {
        slot.scope = format!("{}/{route}", TENANTS[0].instance);
    }
}
