//! Brings a dead letter back as a new send: with a key of its own, as often as somebody asks.

use std::sync::atomic::{AtomicU32, Ordering};

use onceproof_gateway::store::{Answer, Command, EventCommand, Reply, SqliteStore, StoreError};

use crate::mutants::Mutation;

/// A copy of the row, whatever has become of the row.
const COPY: &str = "
    INSERT INTO outbox (effect, scope, key, payload, state, due_ms)
    SELECT effect || '+' || ?2, scope, key || '+' || ?2, outbox.payload, 'ready', 0
    FROM dead_letter JOIN outbox ON outbox.id = dead_letter.row
    WHERE dead_letter.queue = 'outbox' AND dead_letter.id = ?1";

/// Each redrive is a new row.
#[derive(Debug, Default)]
pub struct RedriveAnew {
    redriven: AtomicU32,
}

impl Mutation for RedriveAnew {
    fn execute(&self, database: &mut SqliteStore, command: &Command) -> Result<Answer, StoreError> {
        if let Command::Event(EventCommand::Redrive { id, .. }) = command {
            let number = self.redriven.fetch_add(1, Ordering::Relaxed).to_string();
            if database.tamper(COPY, &[&id.to_string(), &number])? > 0 {
                // What is due next has changed.
                let look = database.execute(&Command::Event(EventCommand::ListDead { limit: 1 }))?;
                return Ok(Answer { reply: Reply::Applied, ..look });
            }
        }
        database.execute(command)
    }
}
