//! Looks whether a key is free, and takes it afterwards.

use std::sync::Arc;

use onceproof_gateway::{
    store::{Answer, Command, Reply, Slot, SqliteStore, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// What the claim id of one begins with that overwrites whatever is there.
const BLIND: &str = "blind-";

/// A read, and then a write without a condition.
#[derive(Debug)]
pub struct GetThenSet;

impl Mutation for GetThenSet {
    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Looking(store))
    }

    /// What was overwritten has no owner that could be asked for: the row is that of whoever writes.
    fn execute(&self, database: &mut SqliteStore, command: &Command) -> Result<Answer, StoreError> {
        match command {
            Command::Claim { slot, claim_id, .. } if claim_id.starts_with(BLIND) => {
                of_key(database, "DELETE FROM record WHERE scope = ?1 AND key = ?2", slot, None)?;
            }
            Command::Mark { slot, token, .. } => {
                let sql = "UPDATE record SET token = ?3, state = 'claimed' WHERE scope = ?1 AND key = ?2 AND state <> 'done'";
                of_key(database, sql, slot, Some(&token.to_string()))?;
            }
            Command::Done { slot, reference, .. } => {
                let sql =
                    "UPDATE record SET reference = ?3, state = 'dispatching' WHERE scope = ?1 AND key = ?2";
                of_key(database, sql, slot, Some(reference))?;
            }
            Command::Unknown { slot, token, .. } | Command::Release { slot, token, .. } => {
                let sql = "UPDATE record SET token = ?3 WHERE scope = ?1 AND key = ?2";
                of_key(database, sql, slot, Some(&token.to_string()))?;
            }
            _ => {}
        }
        database.execute(command)
    }
}

fn of_key(database: &SqliteStore, sql: &str, slot: &Slot, third: Option<&str>) -> Result<usize, StoreError> {
    let values: Vec<&str> = [slot.scope.as_str(), slot.key.as_str()].into_iter().chain(third).collect();
    database.tamper(sql, &values)
}

struct Looking(Arc<dyn Store>);

impl Store for Looking {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        let Command::Claim { slot, now_ms, skew_ms, tombstone_ms, .. } = &command else {
            return self.0.execute(command);
        };
        let (slot, now_ms, skew_ms, tombstone_ms) = (slot.clone(), *now_ms, *skew_ms, *tombstone_ms);
        let store = Arc::clone(&self.0);
        Box::pin(async move {
            let look = Command::Read { slot, now_ms, skew_ms, tombstone_ms };
            if store.execute(look).await?.reply != Reply::Absent {
                return store.execute(command).await;
            }
            let mut blind = command;
            if let Command::Claim { claim_id, .. } = &mut blind {
                claim_id.insert_str(0, BLIND);
            }
            store.execute(blind).await
        })
    }
}
