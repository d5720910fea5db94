//! Believes whatever status comes last.

use onceproof_gateway::store::{Answer, Command, Done, EventCommand, SqliteStore, StoreError};

use crate::mutants::Mutation;

/// The order of statuses is the order in which they come.
#[derive(Debug)]
pub struct StatusBackwards;

impl Mutation for StatusBackwards {
    fn execute(&self, database: &mut SqliteStore, command: &Command) -> Result<Answer, StoreError> {
        if let Command::Event(EventCommand::Complete { done: Done { status: Some(status), .. }, .. }) =
            command
        {
            database.tamper("DELETE FROM message_status WHERE message_id = ?1", &[&status.message_id])?;
        }
        database.execute(command)
    }
}
