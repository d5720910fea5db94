//! The transitions of a record, one function for each command. A writer's claim, lease or reference is tested in
//! the very statement that writes, so that nothing can come between.

use rusqlite::{Connection, OptionalExtension, Result, Row, named_params};

use super::{
    Command, Reply, Slot, State, StoredAnswer,
    rows::{self, Found},
};

/// The most records of one kind that one sweep touches: a transaction and its answer stay small, and the next due
/// time says that there is more.
const SWEEP_LIMIT: u32 = 500;

/// What a claim asks for.
struct Claim<'a> {
    slot: &'a Slot,
    fingerprint: &'a str,
    claim_id: &'a str,
    lease_end_ms: i64,
    admissible: bool,
}

/// By which times a record is judged.
#[derive(Clone, Copy)]
struct Horizon {
    now_ms: i64,
    skew_ms: i64,
    tombstone_ms: i64,
    /// When a record that becomes `unknown` now is to be asked about.
    ask_ms: Option<i64>,
}

/// Executes one command inside the caller's transaction.
pub(super) fn run(db: &Connection, command: &Command) -> Result<Reply> {
    match command {
        Command::Claim {
            slot,
            fingerprint,
            claim_id,
            now_ms,
            lease_end_ms,
            skew_ms,
            tombstone_ms,
            admissible,
            askable,
        } => {
            let horizon = horizon(*now_ms, *skew_ms, *tombstone_ms, *askable);
            let claim = Claim {
                slot,
                fingerprint,
                claim_id,
                lease_end_ms: *lease_end_ms,
                admissible: *admissible,
            };
            take(db, &claim, horizon)
        }
        Command::Mark {
            slot,
            token,
            now_ms,
            reference,
            request,
        } => mark(db, slot, *token, *now_ms, reference, request),
        Command::Done {
            slot,
            reference,
            expires_ms,
            answer,
            now_ms: _,
        } => done(db, slot, reference, *expires_ms, answer),
        Command::Unknown {
            slot,
            token,
            next_ask_ms,
            now_ms: _,
        } => unknown(db, slot, *token, *next_ask_ms),
        Command::Release {
            slot,
            token,
            now_ms: _,
        } => release(db, slot, *token),
        Command::Fence {
            slot,
            claim_id,
            now_ms: _,
        } => fence(db, slot, claim_id),
        Command::Read {
            slot,
            now_ms,
            skew_ms,
            tombstone_ms,
        } => read(db, slot, horizon(*now_ms, *skew_ms, *tombstone_ms, false)),
        Command::BeginAsk {
            now_ms,
            settle_lease_end_ms,
            skew_ms,
            first_dispatch_at_or_after_ms,
            dead_before_ms,
        } => {
            give_up_asking(db, *now_ms, *skew_ms, *first_dispatch_at_or_after_ms)?;
            begin_ask(db, *now_ms, *settle_lease_end_ms, *skew_ms, *dead_before_ms)
        }
        Command::ReleaseAsked {
            slot,
            settle_token,
            now_ms: _,
        } => release_asked(db, slot, *settle_token),
        Command::AskLater {
            slot,
            settle_token,
            next_ask_ms,
            now_ms: _,
        } => ask_later(db, slot, *settle_token, *next_ask_ms),
        Command::Sweep {
            now_ms,
            skew_ms,
            tombstone_ms,
            askable,
        } => sweep(db, horizon(*now_ms, *skew_ms, *tombstone_ms, *askable)),
    }
}

/// The earliest time at which a sweep or a re-ask has something to do.
pub(super) fn next_due_ms(db: &Connection) -> Result<Option<i64>> {
    db.prepare_cached("SELECT due_ms FROM record WHERE due_ms IS NOT NULL ORDER BY due_ms LIMIT 1")?
        .query_row([], |row| row.get(0))
        .optional()
}

fn horizon(now_ms: i64, skew_ms: i64, tombstone_ms: i64, askable: bool) -> Horizon {
    Horizon {
        now_ms,
        skew_ms,
        tombstone_ms,
        ask_ms: askable.then_some(now_ms),
    }
}

impl Horizon {
    fn is_lease_out(self, found: &Found) -> bool {
        found.lease_end_ms.saturating_add(self.skew_ms) <= self.now_ms
    }

    /// Where a record stands now; `None` where it counts as gone although its row is still there (S5).
    fn standing(self, found: &Found) -> Option<State> {
        let expires_ms = found.expires_ms.unwrap_or(i64::MAX);
        let forgotten_ms = match found.view.message_id {
            Some(_) => expires_ms.saturating_add(self.tombstone_ms),
            // A tombstone says that the message was sent, which this answer did not.
            None => expires_ms,
        };
        match found.view.state {
            State::Claimed if self.is_lease_out(found) => None,
            State::Dispatching if self.is_lease_out(found) => Some(State::Unknown),
            State::Done | State::Tombstone if forgotten_ms <= self.now_ms => None,
            State::Done if expires_ms <= self.now_ms => Some(State::Tombstone),
            state => Some(state),
        }
    }
}

/// The next fencing token. No delete or sweep resets the sequence, so that none is ever used twice.
fn next_token(db: &Connection) -> Result<i64> {
    db.prepare_cached("UPDATE sequence SET last = last + 1 RETURNING last")?
        .query_row([], |row| row.get(0))
}

fn take(db: &Connection, claim: &Claim<'_>, horizon: Horizon) -> Result<Reply> {
    let Some(mut found) = rows::find(db, claim.slot)? else {
        return insert(db, claim, horizon);
    };
    let standing = horizon.standing(&found);
    if standing.is_none() && found.view.state != State::Claimed {
        delete(db, claim.slot, found.view.token)?;
        return insert(db, claim, horizon);
    }
    if found.fingerprint != claim.fingerprint {
        return Ok(Reply::Mismatch {
            state: standing.unwrap_or(found.view.state),
        });
    }
    let Some(standing) = standing else {
        return take_over(db, claim, horizon);
    };
    if standing == State::Unknown && found.view.state == State::Dispatching {
        lapse(db, claim.slot, horizon)?;
    }
    found.view.state = standing;
    Ok(Reply::Meets {
        view: without_expired_answer(found),
    })
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
    db.prepare_cached("DELETE FROM record WHERE scope = ?1 AND key = ?2 AND token = ?3")?
        .execute((&slot.scope, &slot.key, token))?;
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

fn mark(
    db: &Connection,
    slot: &Slot,
    token: i64,
    now_ms: i64,
    reference: &str,
    request: &str,
) -> Result<Reply> {
    let changed = db
        .prepare_cached(
            "UPDATE record SET state = 'dispatching', reference = :reference, request = :request,
                    first_dispatch_ms = :now_ms, last_request_ms = :now_ms
             WHERE scope = :scope AND key = :key AND token = :token AND state = 'claimed'",
        )?
        .execute(named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":token": token,
            ":now_ms": now_ms,
            ":reference": reference,
            ":request": request,
        })?;
    applied_or_fenced(db, slot, changed)
}

fn done(
    db: &Connection,
    slot: &Slot,
    reference: &str,
    expires_ms: i64,
    answer: &StoredAnswer,
) -> Result<Reply> {
    let headers = serde_json::to_string(&answer.headers)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let changed = db
        .prepare_cached(
            "UPDATE record SET state = 'done', status = :status, headers = :headers, body = :body,
                    message_id = :message_id, expires_ms = :expires_ms, due_ms = :expires_ms,
                    request = NULL, settle_token = NULL, settle_lease_end_ms = NULL, next_ask_ms = NULL
             WHERE scope = :scope AND key = :key AND reference = :reference
               AND state IN ('dispatching', 'unknown')",
        )?
        .execute(named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":reference": reference,
            ":status": answer.status,
            ":headers": headers,
            ":body": answer.body,
            ":message_id": answer.message_id,
            ":expires_ms": expires_ms,
        })?;
    if changed == 0 {
        let found = rows::find(db, slot)?;
        if found.is_some_and(|found| is_proved_already(&found, reference, answer)) {
            return Ok(Reply::Applied);
        }
    }
    applied_or_fenced(db, slot, changed)
}

fn is_proved_already(found: &Found, reference: &str, answer: &StoredAnswer) -> bool {
    matches!(found.view.state, State::Done | State::Tombstone)
        && found.view.reference.as_deref() == Some(reference)
        && found.view.message_id == answer.message_id
}

fn unknown(db: &Connection, slot: &Slot, token: i64, next_ask_ms: Option<i64>) -> Result<Reply> {
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

fn release(db: &Connection, slot: &Slot, token: i64) -> Result<Reply> {
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

fn fence(db: &Connection, slot: &Slot, claim_id: &str) -> Result<Reply> {
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
        Some(found) => Reply::Fenced {
            view: Some(found.view),
        },
    })
}

fn read(db: &Connection, slot: &Slot, horizon: Horizon) -> Result<Reply> {
    let Some(mut found) = rows::find(db, slot)? else {
        return Ok(Reply::Absent);
    };
    let Some(standing) = horizon.standing(&found) else {
        return Ok(Reply::Absent);
    };
    found.view.state = standing;
    Ok(Reply::Meets {
        view: without_expired_answer(found),
    })
}

fn without_expired_answer(mut found: Found) -> super::View {
    if found.view.state == State::Tombstone {
        found.view.answer = None;
    }
    found.view
}

/// Past the provider's retention its memory of the key proves nothing: the record is treated as an opaque
/// provider's from here on.
fn give_up_asking(
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

fn begin_ask(
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

fn release_asked(db: &Connection, slot: &Slot, settle_token: i64) -> Result<Reply> {
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

fn ask_later(
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

fn sweep(db: &Connection, horizon: Horizon) -> Result<Reply> {
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
    Ok(Reply::Swept {
        released,
        unknown,
        expired,
        forgotten,
    })
}

/// Runs one statement of a sweep, whose parameters are ?1 now, ?2 skew, ?3 tombstone, ?4 next ask, ?5 limit.
fn swept(db: &Connection, horizon: Horizon, sql: &str) -> Result<Vec<Slot>> {
    let mut slots = db
        .prepare_cached(sql)?
        .query_map(
            (
                horizon.now_ms,
                horizon.skew_ms,
                horizon.tombstone_ms,
                horizon.ask_ms,
                SWEEP_LIMIT,
            ),
            slot_of,
        )?
        .collect::<Result<Vec<_>>>()?;
    // SQLite promises no order for RETURNING.
    slots.sort();
    Ok(slots)
}

fn slot_of(row: &Row<'_>) -> Result<Slot> {
    Ok(Slot {
        scope: row.get("scope")?,
        key: row.get("key")?,
    })
}

fn applied_or_fenced(db: &Connection, slot: &Slot, changed: usize) -> Result<Reply> {
    if changed > 0 {
        return Ok(Reply::Applied);
    }
    Ok(Reply::Fenced {
        view: rows::find(db, slot)?.map(|found| found.view),
    })
}
