//! Asking the provider about an `unknown`: one at a time, and written down before it is done.

use rusqlite::{Connection, OptionalExtension, Result, named_params};

use super::{applied_or_fenced, next_token, slot_of};
use crate::store::{Reply, Slot};

/// Past the provider's retention its memory of the key proves nothing: the record is treated as an opaque
/// provider's from here on.
pub(super) fn give_up_asking(
    db: &Connection,
    now_ms: i64,
    skew_ms: i64,
    first_dispatch_at_or_after_ms: i64,
) -> Result<()> {
    db.prepare_cached(
        "UPDATE record SET next_ask_ms = NULL, due_ms = NULL
         WHERE due_ms <= :now_ms AND state = 'unknown' AND first_dispatch_ms < :bound_ms
           AND (settle_lease_end_ms IS NULL OR settle_lease_end_ms + :skew_ms <= :now_ms)",
    )?
    .execute(named_params! {
        ":now_ms": now_ms,
        ":skew_ms": skew_ms,
        ":bound_ms": first_dispatch_at_or_after_ms,
    })?;
    Ok(())
}

pub(super) fn begin_ask(
    db: &Connection,
    now_ms: i64,
    settle_lease_end_ms: i64,
    skew_ms: i64,
    dead_before_ms: i64,
) -> Result<Reply> {
    let due = db
        .prepare_cached(
            "SELECT scope, key, MAX(first_dispatch_ms, last_request_ms) < :dead_before_ms FROM record
             WHERE due_ms <= :now_ms AND state = 'unknown' AND next_ask_ms <= :now_ms
               AND (settle_lease_end_ms IS NULL OR settle_lease_end_ms + :skew_ms <= :now_ms)
             ORDER BY next_ask_ms, scope, key LIMIT 1",
        )?
        .query_row(
            named_params! {
                ":now_ms": now_ms,
                ":skew_ms": skew_ms,
                ":dead_before_ms": dead_before_ms,
            },
            |row| Ok((slot_of(row)?, row.get(2)?)),
        )
        .optional()?;
    let Some((slot, alone)) = due else {
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
            ":settle_lease_end_ms": settle_lease_end_ms,
            ":due_ms": settle_lease_end_ms.saturating_add(skew_ms),
            ":skew_ms": skew_ms,
            ":now_ms": now_ms,
        },
        |row| {
            Ok(Reply::Ask {
                reference: row.get(0)?,
                request: row.get(1)?,
                asks: row.get(2)?,
                slot: slot.clone(),
                settle_token,
                alone,
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
