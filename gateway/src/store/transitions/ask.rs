//! Asking the provider about an `unknown`: one at a time, and written down before it is done.

use rusqlite::{Connection, OptionalExtension, Result, named_params};

use super::{applied_or_fenced, next_token, slot_of};
use crate::store::{Reply, Slot};

/// Who asks, and until when nobody else may.
#[derive(Clone, Copy)]
pub(super) struct SettleLease {
    now_ms: i64,
    end_ms: i64,
    skew_ms: i64,
}

/// A record that is due to be asked about.
struct Due {
    slot: Slot,
    last_request_ms: i64,
}

impl SettleLease {
    pub(super) fn new(now_ms: i64, end_ms: i64, skew_ms: i64) -> Self {
        Self { now_ms, end_ms, skew_ms }
    }
}

/// Past the provider's retention its memory of the key proves nothing: the record is treated as an opaque
/// provider's from here on.
pub(super) fn give_up_asking(
    db: &Connection,
    lease: SettleLease,
    first_dispatch_at_or_after_ms: i64,
) -> Result<()> {
    db.prepare_cached(
        "UPDATE record SET next_ask_ms = NULL, due_ms = NULL
         WHERE due_ms <= :now_ms AND state = 'unknown' AND first_dispatch_ms < :bound_ms
           AND (settle_lease_end_ms IS NULL OR settle_lease_end_ms + :skew_ms <= :now_ms)",
    )?
    .execute(named_params! {
        ":now_ms": lease.now_ms,
        ":skew_ms": lease.skew_ms,
        ":bound_ms": first_dispatch_at_or_after_ms,
    })?;
    Ok(())
}

/// The record that is due for the longest time and that nobody asks about.
fn due(db: &Connection, lease: SettleLease) -> Result<Option<Due>> {
    db.prepare_cached(
        "SELECT scope, key, MAX(first_dispatch_ms, last_request_ms) FROM record
         WHERE due_ms <= :now_ms AND state = 'unknown' AND next_ask_ms <= :now_ms
           AND (settle_lease_end_ms IS NULL OR settle_lease_end_ms + :skew_ms <= :now_ms)
         ORDER BY next_ask_ms, scope, key LIMIT 1",
    )?
    .query_row(named_params! { ":now_ms": lease.now_ms, ":skew_ms": lease.skew_ms }, |row| {
        Ok(Due { slot: slot_of(row)?, last_request_ms: row.get(2)? })
    })
    .optional()
}

pub(super) fn begin_ask(db: &Connection, lease: SettleLease, dead_before_ms: i64) -> Result<Reply> {
    let Some(Due { slot, last_request_ms }) = due(db, lease)? else {
        return Ok(Reply::Absent);
    };
    let settle_token = next_token(db)?;
    db.prepare_cached(
        "UPDATE record SET asks = asks + 1, settle_token = :settle_token,
                settle_lease_end_ms = :settle_lease_end_ms, due_ms = :due_ms,
                last_request_ms = MAX(last_request_ms, :now_ms)
         WHERE scope = :scope AND key = :key AND state = 'unknown'
           AND (settle_lease_end_ms IS NULL OR settle_lease_end_ms + :skew_ms <= :now_ms)
         RETURNING reference, request, asks",
    )?
    .query_row(
        named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":settle_token": settle_token,
            ":settle_lease_end_ms": lease.end_ms,
            ":due_ms": lease.end_ms.saturating_add(lease.skew_ms),
            ":skew_ms": lease.skew_ms,
            ":now_ms": lease.now_ms,
        },
        |row| {
            Ok(Reply::Ask {
                reference: row.get(0)?,
                request: row.get(1)?,
                asks: row.get(2)?,
                slot: slot.clone(),
                settle_token,
                alone: last_request_ms < dead_before_ms,
            })
        },
    )
}

/// As [`begin_ask`], but that nothing is written of a request: a query cannot act.
pub(super) fn begin_query(db: &Connection, lease: SettleLease) -> Result<Reply> {
    let Some(Due { slot, last_request_ms }) = due(db, lease)? else {
        return Ok(Reply::Absent);
    };
    let settle_token = next_token(db)?;
    db.prepare_cached(
        "UPDATE record SET queries = queries + 1, settle_token = :settle_token,
                settle_lease_end_ms = :settle_lease_end_ms, due_ms = :due_ms
         WHERE scope = :scope AND key = :key AND state = 'unknown'
           AND (settle_lease_end_ms IS NULL OR settle_lease_end_ms + :skew_ms <= :now_ms)
         RETURNING reference, request, queries",
    )?
    .query_row(
        named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":settle_token": settle_token,
            ":settle_lease_end_ms": lease.end_ms,
            ":due_ms": lease.end_ms.saturating_add(lease.skew_ms),
            ":skew_ms": lease.skew_ms,
            ":now_ms": lease.now_ms,
        },
        |row| {
            Ok(Reply::Query {
                reference: row.get(0)?,
                request: row.get(1)?,
                queries: row.get(2)?,
                slot: slot.clone(),
                settle_token,
                last_request_ms,
            })
        },
    )
}

pub(super) fn release_asked(db: &Connection, slot: &Slot, settle_token: i64) -> Result<Reply> {
    let changed = db
        .prepare_cached(
            "DELETE FROM record
             WHERE scope = :scope AND key = :key AND settle_token = :settle_token AND state = 'unknown'",
        )?
        .execute(named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":settle_token": settle_token,
        })?;
    applied_or_fenced(db, slot, changed)
}

pub(super) fn ask_later(
    db: &Connection,
    slot: &Slot,
    settle_token: i64,
    next_ask_ms: Option<i64>,
) -> Result<Reply> {
    let changed = db
        .prepare_cached(
            "UPDATE record SET settle_token = NULL, settle_lease_end_ms = NULL,
                    next_ask_ms = :next_ask_ms, due_ms = :next_ask_ms
             WHERE scope = :scope AND key = :key AND settle_token = :settle_token AND state = 'unknown'",
        )?
        .execute(named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":settle_token": settle_token,
            ":next_ask_ms": next_ask_ms,
        })?;
    applied_or_fenced(db, slot, changed)
}
