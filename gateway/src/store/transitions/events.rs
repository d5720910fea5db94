//! The commands about events, one function for each.

use rusqlite::{Connection, Result};

use super::{dead, lease, outcome::Keeping, receive};
use crate::store::{EventCommand, Reply};

pub(super) fn run(db: &Connection, command: &EventCommand) -> Result<Reply> {
    match command {
        EventCommand::Receive { items, now_ms, expires_ms, sweep_every_ms } => {
            receive::receive(db, items, *now_ms, *expires_ms, *sweep_every_ms)
        }
        EventCommand::Lease { now_ms, lease_end_ms, skew_ms, attempts } => {
            match lease::bury_abandoned(db, *now_ms, *attempts)? {
                Some(buried) => Ok(buried),
                None => lease::lease(db, *now_ms, lease_end_ms.saturating_add(*skew_ms)),
            }
        }
        EventCommand::Heartbeat { ticket, lease_end_ms, skew_ms } => {
            lease::heartbeat(db, *ticket, lease_end_ms.saturating_add(*skew_ms))
        }
        EventCommand::Complete { ticket, now_ms, expires_ms, sweep_every_ms, done } => {
            let keeping = Keeping { expires_ms: *expires_ms, sweep_every_ms: *sweep_every_ms };
            lease::complete(db, *ticket, *now_ms, keeping, done)
        }
        EventCommand::Fail { ticket, now_ms, retry_ms, failure, error } => {
            lease::fail(db, *ticket, *now_ms, *retry_ms, *failure, error)
        }
        EventCommand::Redrive { id, now_ms, oldest_ms } => dead::redrive(db, *id, *now_ms, *oldest_ms),
        EventCommand::RedriveAll { filter, now_ms, oldest_ms, limit } => {
            dead::redrive_all(db, filter, *now_ms, *oldest_ms, *limit)
        }
        EventCommand::ListDead { filter, limit } => dead::list(db, filter, *limit),
    }
}
