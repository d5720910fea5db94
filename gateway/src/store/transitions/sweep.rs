//! What the table of states says without a repetition.

use rusqlite::{Connection, Result};

use super::{horizon::Horizon, slot_of};
use crate::store::{Reply, Slot};

/// The most records of one kind that one sweep touches: a transaction and its answer stay small, and the next due
/// time says that there is more.
const SWEEP_LIMIT: u32 = 500;

pub(super) fn sweep(db: &Connection, horizon: Horizon) -> Result<Reply> {
    let released = swept(
        db,
        horizon,
        "DELETE FROM record WHERE rowid IN (
             SELECT rowid FROM record WHERE due_ms <= ?1 AND state = 'claimed'
                AND lease_end_ms + ?2 <= ?1 ORDER BY due_ms LIMIT ?5)
         RETURNING scope, key",
    )?;
    let unknown = swept(
        db,
        horizon,
        "UPDATE record SET state = 'unknown', next_ask_ms = ?4, due_ms = ?4 WHERE rowid IN (
             SELECT rowid FROM record WHERE due_ms <= ?1 AND state = 'dispatching'
                AND lease_end_ms + ?2 <= ?1 ORDER BY due_ms LIMIT ?5)
         RETURNING scope, key",
    )?;
    let forgotten = swept(
        db,
        horizon,
        "DELETE FROM record WHERE rowid IN (
             SELECT rowid FROM record WHERE due_ms <= ?1 AND state IN ('done', 'tombstone')
                AND expires_ms + (CASE WHEN message_id IS NULL THEN 0 ELSE ?3 END) <= ?1
             ORDER BY due_ms LIMIT ?5)
         RETURNING scope, key",
    )?;
    let expired = swept(
        db,
        horizon,
        "UPDATE record SET state = 'tombstone', status = NULL, headers = NULL, body = NULL,
                due_ms = expires_ms + ?3 WHERE rowid IN (
             SELECT rowid FROM record WHERE due_ms <= ?1 AND state = 'done' AND expires_ms <= ?1
                AND message_id IS NOT NULL AND expires_ms + ?3 > ?1
             ORDER BY due_ms LIMIT ?5)
         RETURNING scope, key",
    )?;
    Ok(Reply::Swept { released, unknown, expired, forgotten })
}

/// Runs one statement of a sweep, whose parameters are ?1 now, ?2 skew, ?3 tombstone, ?4 next ask, ?5 limit.
fn swept(db: &Connection, horizon: Horizon, sql: &str) -> Result<Vec<Slot>> {
    let mut slots = db
        .prepare_cached(sql)?
        .query_map(
            (horizon.now_ms, horizon.skew_ms, horizon.tombstone_ms, horizon.ask_ms, SWEEP_LIMIT),
            slot_of,
        )?
        .collect::<Result<Vec<_>>>()?;
    // SQLite promises no order for RETURNING.
    slots.sort();
    Ok(slots)
}
