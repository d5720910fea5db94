//! What the table of states says without a repetition.

use rusqlite::{Connection, Result, ToSql};

use super::{Next, first_sweep, horizon::Horizon, slot_of};
use crate::store::{Reply, Slot, State};

/// The most records of one kind that one sweep touches: a transaction and its answer stay small, and the next due
/// time says that there is more.
const SWEEP_LIMIT: u32 = 500;

/// Sweeps what is due: a statement that could find nothing is not run. A `dispatching` record is reconciled as soon as
/// its lease is out, which is far stricter than the five minutes of S11.
pub(super) fn sweep(db: &Connection, next: &Next, horizon: Horizon, every_ms: i64) -> Result<Reply> {
    let is_due = |due_ms: Option<i64>| due_ms.is_some_and(|due_ms| due_ms <= horizon.now_ms);
    let reply = match is_due(next.record_ms) {
        true => records(db, horizon, every_ms)?,
        false => Reply::Swept { released: vec![], unknown: vec![], expired: vec![], forgotten: vec![] },
    };
    if is_due(next.inbox_ms) {
        db.prepare_cached(
            "DELETE FROM inbox WHERE (provider, endpoint, event_id, item, subscriber) IN (
                 SELECT provider, endpoint, event_id, item, subscriber FROM inbox
                 WHERE due_ms <= ?1 AND expires_ms <= ?1 ORDER BY due_ms LIMIT ?2)",
        )?
        .execute((horizon.now_ms, SWEEP_LIMIT))?;
    }
    if is_due(next.status_ms) {
        db.prepare_cached(
            "DELETE FROM message_status WHERE message_id IN (
                 SELECT message_id FROM message_status WHERE due_ms <= ?1 ORDER BY due_ms LIMIT ?2)",
        )?
        .execute((horizon.now_ms, SWEEP_LIMIT))?;
    }
    Ok(reply)
}

/// Which statements there is anything for is asked first, in the same transaction: each of them makes tables of its own.
fn records(db: &Connection, horizon: Horizon, every_ms: i64) -> Result<Reply> {
    let due: Vec<State> = db
        .prepare_cached("SELECT DISTINCT state FROM record WHERE due_ms <= ?1")?
        .query_map([horizon.now_ms], |row| row.get(0))?
        .collect::<Result<_>>()?;
    let swept = |states: &[State], sql: &str| match states.iter().any(|state| due.contains(state)) {
        true => swept(db, horizon, every_ms, sql),
        false => Ok(Vec::new()),
    };
    let released = swept(
        &[State::Claimed],
        "DELETE FROM record WHERE rowid IN (
             SELECT rowid FROM record WHERE due_ms <= ?1 AND state = 'claimed'
                AND lease_end_ms + ?2 <= ?1 ORDER BY due_ms LIMIT ?5)
         RETURNING scope, key",
    )?;
    let unknown = swept(
        &[State::Dispatching],
        "UPDATE record SET state = 'unknown', next_ask_ms = ?4, due_ms = ?4 WHERE rowid IN (
             SELECT rowid FROM record WHERE due_ms <= ?1 AND state = 'dispatching'
                AND lease_end_ms + ?2 <= ?1 ORDER BY due_ms LIMIT ?5)
         RETURNING scope, key",
    )?;
    let forgotten = swept(
        &[State::Done, State::Tombstone],
        "DELETE FROM record WHERE rowid IN (
             SELECT rowid FROM record WHERE due_ms <= ?1 AND state IN ('done', 'tombstone')
                AND expires_ms + (CASE WHEN state = 'tombstone' OR status BETWEEN 200 AND 299 THEN ?3 ELSE 0 END) <= ?1
             ORDER BY due_ms LIMIT ?5)
         RETURNING scope, key",
    )?;
    let due_again = first_sweep("(expires_ms + ?3)", "?6");
    let expired = swept(
        &[State::Done],
        &format!(
            "UPDATE record SET state = 'tombstone', status = NULL, headers = NULL, body = NULL,
                    due_ms = {due_again} WHERE rowid IN (
                 SELECT rowid FROM record WHERE due_ms <= ?1 AND state = 'done' AND expires_ms <= ?1
                    AND status BETWEEN 200 AND 299 AND expires_ms + ?3 > ?1
                 ORDER BY due_ms LIMIT ?5)
             RETURNING scope, key"
        ),
    )?;
    Ok(Reply::Swept { released, unknown, expired, forgotten })
}

/// Runs one statement of a sweep, whose parameters are ?1 now, ?2 skew, ?3 tombstone, ?4 next ask, ?5 limit,
/// ?6 how often what has expired is swept.
fn swept(db: &Connection, horizon: Horizon, every_ms: i64, sql: &str) -> Result<Vec<Slot>> {
    let Horizon { now_ms, skew_ms, tombstone_ms, ask_ms } = horizon;
    let mut statement = db.prepare_cached(sql)?;
    let count = statement.parameter_count();
    let every = [&now_ms as &dyn ToSql, &skew_ms, &tombstone_ms, &ask_ms, &SWEEP_LIMIT, &every_ms];
    let mut slots = statement.query_map(&every[..count], slot_of)?.collect::<Result<Vec<_>>>()?;
    // SQLite promises no order for RETURNING.
    slots.sort();
    Ok(slots)
}
