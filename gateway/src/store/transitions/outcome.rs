//! What the owner of a claim writes: its mark, its outcome, its release, its fence.

use rusqlite::{Connection, Result, named_params};

use super::{applied_or_fenced, first_sweep, next_token};
use crate::store::{
    Reply, Slot, State, StoredAnswer,
    rows::{self, Found},
};

/// How long an answer is kept.
#[derive(Clone, Copy)]
pub(super) struct Keeping {
    pub(super) expires_ms: i64,
    pub(super) sweep_every_ms: i64,
}

pub(super) fn mark(
    db: &Connection,
    slot: &Slot,
    token: i64,
    now_ms: i64,
    lease_end_ms: i64,
    reference: &str,
    request: &str,
) -> Result<Reply> {
    let changed = db
        .prepare_cached(
            "UPDATE record SET state = 'dispatching', reference = :reference, request = :request,
                    first_dispatch_ms = :now_ms, last_request_ms = :now_ms,
                    lease_end_ms = MAX(lease_end_ms, :lease_end_ms),
                    due_ms = due_ms + MAX(lease_end_ms, :lease_end_ms) - lease_end_ms
             WHERE scope = :scope AND key = :key AND token = :token AND state = 'claimed'",
        )?
        .execute(named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":token": token,
            ":now_ms": now_ms,
            ":lease_end_ms": lease_end_ms,
            ":reference": reference,
            ":request": request,
        })?;
    applied_or_fenced(db, slot, changed)
}

pub(super) fn done(
    db: &Connection,
    slot: &Slot,
    reference: &str,
    keeping: Keeping,
    answer: &StoredAnswer,
) -> Result<Reply> {
    let changed = write_answer(db, slot, reference, keeping, answer, i64::MAX)?;
    if changed == 0 {
        let found = rows::find(db, slot)?;
        if found.is_some_and(|found| is_proved_already(&found, reference, answer)) {
            return Ok(Reply::Applied);
        }
    }
    applied_or_fenced(db, slot, changed)
}

/// Writes the answer over the record of this reference, if it is unknown, or dispatching under a lease that ends no
/// later than `lease_end_max_ms`.
pub(super) fn write_answer(
    db: &Connection,
    slot: &Slot,
    reference: &str,
    keeping: Keeping,
    answer: &StoredAnswer,
    lease_end_max_ms: i64,
) -> Result<usize> {
    let headers = serde_json::to_string(&answer.headers)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let due = first_sweep("?8", "?9");
    db.prepare_cached(&format!(
        "UPDATE record SET state = 'done', status = ?4, headers = ?5, body = ?6,
                message_id = ?7, expires_ms = ?8, due_ms = {due},
                request = NULL, settle_token = NULL, settle_lease_end_ms = NULL, next_ask_ms = NULL
         WHERE scope = ?1 AND key = ?2 AND reference = ?3
           AND (state = 'unknown' OR state = 'dispatching' AND lease_end_ms <= ?10)"
    ))?
    .execute((
        &slot.scope,
        &slot.key,
        reference,
        answer.status,
        headers,
        &answer.body,
        &answer.message_id,
        keeping.expires_ms,
        keeping.sweep_every_ms,
        lease_end_max_ms,
    ))
}

fn is_proved_already(found: &Found, reference: &str, answer: &StoredAnswer) -> bool {
    matches!(found.view.state, State::Done | State::Tombstone)
        && found.view.reference.as_deref() == Some(reference)
        && found.view.message_id == answer.message_id
}

pub(super) fn unknown(db: &Connection, slot: &Slot, token: i64, next_ask_ms: Option<i64>) -> Result<Reply> {
    let changed = db
        .prepare_cached(
            "UPDATE record SET state = 'unknown', next_ask_ms = :next_ask_ms, due_ms = :next_ask_ms
             WHERE scope = :scope AND key = :key AND token = :token AND state = 'dispatching'",
        )?
        .execute(named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":token": token,
            ":next_ask_ms": next_ask_ms,
        })?;
    applied_or_fenced(db, slot, changed)
}

pub(super) fn release(db: &Connection, slot: &Slot, token: i64) -> Result<Reply> {
    let changed = db
        .prepare_cached(
            "DELETE FROM record
             WHERE scope = :scope AND key = :key AND token = :token AND asks = 0
               AND state IN ('claimed', 'dispatching', 'unknown')",
        )?
        .execute(named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":token": token,
        })?;
    applied_or_fenced(db, slot, changed)
}

pub(super) fn fence(db: &Connection, slot: &Slot, claim_id: &str) -> Result<Reply> {
    let token = next_token(db)?;
    db.prepare_cached(
        "UPDATE record SET token = :token
         WHERE scope = :scope AND key = :key AND claim_id = :claim_id
           AND state IN ('claimed', 'dispatching', 'unknown')",
    )?
    .execute(named_params! {
        ":scope": slot.scope,
        ":key": slot.key,
        ":claim_id": claim_id,
        ":token": token,
    })?;
    Ok(match rows::find(db, slot)? {
        None => Reply::Absent,
        Some(found) if found.view.claim_id == claim_id => Reply::Meets { view: found.view },
        Some(found) => Reply::Fenced { view: Some(found.view) },
    })
}
