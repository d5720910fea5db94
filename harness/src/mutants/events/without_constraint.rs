//! Redis knows what was delivered, and the database would take anything.

use std::sync::atomic::{AtomicU32, Ordering};

use onceproof_gateway::store::{Answer, Command, EventCommand, SqliteStore, StoreError};

use crate::mutants::Mutation;

/// No id is unique.
#[derive(Debug, Default)]
pub struct WithoutConstraint {
    received: AtomicU32,
}

impl Mutation for WithoutConstraint {
    fn execute(&self, database: &mut SqliteStore, command: &Command) -> Result<Answer, StoreError> {
        let mut command = command.clone();
        if let Command::Event(EventCommand::Receive { items, .. }) = &mut command {
            let number = self.received.fetch_add(1, Ordering::Relaxed);
            items.iter_mut().for_each(|item| item.key.event_id += &format!("/{number}"));
        }
        database.execute(&command)
    }
}
