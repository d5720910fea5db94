//! Gives every claim the same fencing token.

use onceproof_gateway::store::{Answer, Command, SqliteStore, StoreError};

use crate::mutants::Mutation;

/// The sequence begins anew with each claim.
#[derive(Debug)]
pub struct ReusedToken;

impl Mutation for ReusedToken {
    fn execute(&self, database: &mut SqliteStore, command: &Command) -> Result<Answer, StoreError> {
        if matches!(command, Command::Claim { .. }) {
            database.tamper("UPDATE sequence SET last = 0", &[])?;
        }
        database.execute(command)
    }
}
