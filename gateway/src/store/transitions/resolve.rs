//! The operator's word on an `unknown`: its being unknown, and every request's being dead, are tested in the very
//! statement that writes.

use rusqlite::{Connection, Result, named_params};

use super::{
    applied_or_fenced, find,
    horizon::Horizon,
    outcome::{self, Keeping},
};
use crate::store::{Reply, Slot, State, StoredAnswer, Word, rows};

pub(super) fn resolve(
    db: &Connection,
    slot: &Slot,
    reference: &str,
    word: &Word,
    horizon: Horizon,
) -> Result<Reply> {
    match word {
        Word::Sent { expires_ms, sweep_every_ms, answer } => {
            let keeping = Keeping { expires_ms: *expires_ms, sweep_every_ms: *sweep_every_ms };
            sent(db, slot, reference, keeping, answer, horizon)
        }
        Word::NotSent { dead_after_ms } => not_sent(db, slot, reference, *dead_after_ms, horizon),
    }
}

fn sent(
    db: &Connection,
    slot: &Slot,
    reference: &str,
    keeping: Keeping,
    answer: &StoredAnswer,
    horizon: Horizon,
) -> Result<Reply> {
    let lease_end_max_ms = horizon.now_ms.saturating_sub(horizon.skew_ms);
    let changed = outcome::write_answer(db, slot, reference, keeping, answer, lease_end_max_ms)?;
    match changed {
        0 => absent_or_fenced(db, slot),
        _ => Ok(Reply::Applied),
    }
}

fn not_sent(
    db: &Connection,
    slot: &Slot,
    reference: &str,
    dead_after_ms: i64,
    horizon: Horizon,
) -> Result<Reply> {
    let changed = db
        .prepare_cached(
            "DELETE FROM record WHERE scope = :scope AND key = :key AND reference = :reference
               AND (state = 'unknown' OR state = 'dispatching' AND lease_end_ms + :skew_ms <= :now_ms)
               AND MAX(first_dispatch_ms, last_request_ms) + :dead_after_ms < :now_ms",
        )?
        .execute(named_params! {
            ":scope": slot.scope,
            ":key": slot.key,
            ":reference": reference,
            ":skew_ms": horizon.skew_ms,
            ":now_ms": horizon.now_ms,
            ":dead_after_ms": dead_after_ms,
        })?;
    if changed > 0 {
        return Ok(Reply::Applied);
    }
    let found = rows::find(db, slot)?;
    let is_unknown = found.is_some_and(|found| {
        found.view.reference.as_deref() == Some(reference) && horizon.standing(&found) == Some(State::Unknown)
    });
    match find::last_request_ms(db, slot)?.filter(|_| is_unknown) {
        Some(last_ms) => {
            Ok(Reply::TooEarly { earliest_ms: last_ms.saturating_add(dead_after_ms).saturating_add(1) })
        }
        None => absent_or_fenced(db, slot),
    }
}

fn absent_or_fenced(db: &Connection, slot: &Slot) -> Result<Reply> {
    match applied_or_fenced(db, slot, 0)? {
        Reply::Fenced { view: None } => Ok(Reply::Absent),
        reply => Ok(reply),
    }
}
