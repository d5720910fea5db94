//! Looking records up: a tenant by what it knows of its own (S11), the operator by their being unknown.

use rusqlite::{Connection, OptionalExtension, Result, Row, named_params};

use super::{claim::without_expired_answer, horizon::Horizon, lease, slot_of};
use crate::store::{Reply, Slot, Sought, Unsettled, Whose, rows};

pub(super) fn find(db: &Connection, sought: &Sought, whose: &Whose, horizon: Horizon) -> Result<Reply> {
    for slot in slots(db, sought)? {
        let Some(mut found) = rows::find(db, &slot)?.filter(|_| counts(whose, &slot.scope)) else {
            continue;
        };
        if let Some(standing) = horizon.standing(&found) {
            found.view.state = standing;
            let message_id = found.view.message_id.as_deref();
            let delivery = message_id.map(|id| lease::delivery(db, id)).transpose()?.flatten();
            return Ok(Reply::Found { slot, view: without_expired_answer(found), delivery });
        }
    }
    Ok(Reply::Absent)
}

fn counts(whose: &Whose, scope: &str) -> bool {
    match whose {
        Whose::Anybodys => true,
        Whose::Of { instances } => is_of_any(instances, scope),
        Whose::NotOf { instances } => !is_of_any(instances, scope),
    }
}

/// Whether a scope is `{instance}/{route}` of one of these (S9). Every send route begins alike.
fn is_of_any(instances: &[String], scope: &str) -> bool {
    let is_of = |instance: &String| {
        scope.strip_prefix(instance.as_str()).is_some_and(|rest| rest.starts_with("/messages"))
    };
    instances.iter().any(is_of)
}

fn slots(db: &Connection, sought: &Sought) -> Result<Vec<Slot>> {
    let id = match sought {
        Sought::Key { slot } => return Ok(vec![slot.clone()]),
        Sought::Message { id } => id,
    };
    // References are drawn at random: only a provider that gives one as its id could make the two meet.
    let mut slots = slots_by(db, "SELECT scope, key FROM record WHERE reference = ?1", id)?;
    slots.extend(slots_by(
        db,
        "SELECT scope, key FROM record WHERE message_id = ?1 ORDER BY scope, key",
        id,
    )?);
    Ok(slots)
}

fn slots_by(db: &Connection, sql: &str, id: &str) -> Result<Vec<Slot>> {
    db.prepare_cached(sql)?.query_map([id], slot_of)?.collect()
}

pub(super) fn list_unknown(db: &Connection, now_ms: i64, skew_ms: i64, limit: u32) -> Result<Reply> {
    let mut records = db
        .prepare_cached(
            "SELECT scope, key, reference, first_dispatch_ms, MAX(first_dispatch_ms, last_request_ms) FROM record
             WHERE state IN ('dispatching', 'unknown')
               AND (state = 'unknown' OR lease_end_ms + :skew_ms <= :now_ms)
             ORDER BY first_dispatch_ms, scope, key LIMIT :limit",
        )?
        .query_map(
            named_params! { ":now_ms": now_ms, ":skew_ms": skew_ms, ":limit": i64::from(limit) + 1 },
            unsettled,
        )?
        .collect::<Result<Vec<_>>>()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_cut = records.len() > limit;
    records.truncate(limit);
    Ok(Reply::Unknowns { records, is_cut })
}

fn unsettled(row: &Row<'_>) -> Result<Unsettled> {
    Ok(Unsettled {
        slot: slot_of(row)?,
        reference: row.get(2)?,
        since_ms: row.get(3)?,
        last_request_ms: row.get(4)?,
    })
}

/// When the last request of a record that can act was begun.
pub(super) fn last_request_ms(db: &Connection, slot: &Slot) -> Result<Option<i64>> {
    db.prepare_cached(
        "SELECT MAX(first_dispatch_ms, last_request_ms) FROM record WHERE scope = ?1 AND key = ?2",
    )?
    .query_row((&slot.scope, &slot.key), |row| row.get(0))
    .optional()
    .map(Option::flatten)
}
