//! Taking a key, and what meets one that is taken.

use rusqlite::{Connection, Result, named_params};

use super::{horizon::Horizon, next_token};
use crate::store::{
    Reply, Slot, State, View,
    rows::{self, Found},
};

/// What a claim asks for.
pub(super) struct Claim<'a> {
    pub(super) slot: &'a Slot,
    pub(super) fingerprint: &'a str,
    pub(super) claim_id: &'a str,
    pub(super) lease_end_ms: i64,
    pub(super) admissible: bool,
}

pub(super) fn take(db: &Connection, claim: &Claim<'_>, horizon: Horizon) -> Result<Reply> {
    let Some(mut found) = rows::find(db, claim.slot)? else {
        return insert(db, claim, horizon);
    };
    let standing = horizon.standing(&found);
    if standing.is_none() && found.view.state != State::Claimed {
        delete(db, claim.slot, found.view.token)?;
        return insert(db, claim, horizon);
    }
    if found.fingerprint != claim.fingerprint {
        return Ok(Reply::Mismatch { state: standing.unwrap_or(found.view.state) });
    }
    let Some(standing) = standing else {
        return take_over(db, claim, horizon);
    };
    if standing == State::Unknown && found.view.state == State::Dispatching {
        lapse(db, claim.slot, horizon)?;
    }
    found.view.state = standing;
    Ok(Reply::Meets { view: without_expired_answer(found) })
}

fn insert(db: &Connection, claim: &Claim<'_>, horizon: Horizon) -> Result<Reply> {
    if !claim.admissible {
        return Ok(Reply::Absent);
    }
    let token = next_token(db)?;
    db.prepare_cached(
        "INSERT INTO record (scope, key, fingerprint, state, claim_id, token, lease_end_ms, due_ms)
         VALUES (:scope, :key, :fingerprint, 'claimed', :claim_id, :token, :lease_end_ms, :due_ms)",
    )?
    .execute(named_params! {
        ":scope": claim.slot.scope,
        ":key": claim.slot.key,
        ":fingerprint": claim.fingerprint,
        ":claim_id": claim.claim_id,
        ":token": token,
        ":lease_end_ms": claim.lease_end_ms,
        ":due_ms": claim.lease_end_ms.saturating_add(horizon.skew_ms),
    })?;
    Ok(Reply::Claimed { token })
}

fn take_over(db: &Connection, claim: &Claim<'_>, horizon: Horizon) -> Result<Reply> {
    if !claim.admissible {
        return Ok(Reply::Absent);
    }
    let token = next_token(db)?;
    let changed = db
        .prepare_cached(
            "UPDATE record SET claim_id = :claim_id, token = :token, lease_end_ms = :lease_end_ms, due_ms = :due_ms
             WHERE scope = :scope AND key = :key AND state = 'claimed' AND lease_end_ms + :skew_ms <= :now_ms",
        )?
        .execute(named_params! {
            ":scope": claim.slot.scope,
            ":key": claim.slot.key,
            ":claim_id": claim.claim_id,
            ":token": token,
            ":lease_end_ms": claim.lease_end_ms,
            ":due_ms": claim.lease_end_ms.saturating_add(horizon.skew_ms),
            ":skew_ms": horizon.skew_ms,
            ":now_ms": horizon.now_ms,
        })?;
    match changed {
        0 => read(db, claim.slot, horizon),
        _ => Ok(Reply::Claimed { token }),
    }
}

fn delete(db: &Connection, slot: &Slot, token: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM record WHERE scope = ?1 AND key = ?2 AND token = ?3")?.execute((
        &slot.scope,
        &slot.key,
        token,
    ))?;
    Ok(())
}

fn lapse(db: &Connection, slot: &Slot, horizon: Horizon) -> Result<()> {
    db.prepare_cached(
        "UPDATE record SET state = 'unknown', next_ask_ms = :ask_ms, due_ms = :ask_ms
         WHERE scope = :scope AND key = :key AND state = 'dispatching' AND lease_end_ms + :skew_ms <= :now_ms",
    )?
    .execute(named_params! {
        ":scope": slot.scope,
        ":key": slot.key,
        ":ask_ms": horizon.ask_ms,
        ":skew_ms": horizon.skew_ms,
        ":now_ms": horizon.now_ms,
    })?;
    Ok(())
}

pub(super) fn read(db: &Connection, slot: &Slot, horizon: Horizon) -> Result<Reply> {
    let Some(mut found) = rows::find(db, slot)? else {
        return Ok(Reply::Absent);
    };
    let Some(standing) = horizon.standing(&found) else {
        return Ok(Reply::Absent);
    };
    found.view.state = standing;
    Ok(Reply::Meets { view: without_expired_answer(found) })
}

pub(super) fn without_expired_answer(mut found: Found) -> View {
    if found.view.state == State::Tombstone {
        found.view.answer = None;
    }
    found.view
}
