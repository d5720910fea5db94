//! Leases without fencing: whoever writes is believed to be the owner.

use onceproof_gateway::store::{Answer, Command, EventCommand, Queue, SqliteStore, StoreError};

use crate::mutants::Mutation;

/// No token is compared.
#[derive(Debug)]
pub struct Unfenced;

impl Mutation for Unfenced {
    fn execute(&self, database: &mut SqliteStore, command: &Command) -> Result<Answer, StoreError> {
        if let (Some(slot), Some(token)) = (command.slot(), command.token()) {
            let sql = "UPDATE record SET token = ?3 WHERE scope = ?1 AND key = ?2";
            database.tamper(sql, &[&slot.scope, &slot.key, &token.to_string()])?;
        }
        if let Command::Event(
            EventCommand::Heartbeat { ticket, .. }
            | EventCommand::Complete { ticket, .. }
            | EventCommand::Fail { ticket, .. },
        ) = command
        {
            let sql = match ticket.queue {
                Queue::Job => "UPDATE job SET token = ?2, state = 'leased' WHERE id = ?1",
                Queue::Outbox => "UPDATE outbox SET token = ?2, state = 'leased' WHERE id = ?1",
            };
            database.tamper(sql, &[&ticket.id.to_string(), &ticket.token.to_string()])?;
        }
        database.execute(command)
    }
}
