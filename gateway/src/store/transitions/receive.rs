//! A delivery becomes durable: inbox rows and jobs in one transaction (W5), dead letters for bad items with them (W4).

use rusqlite::{Connection, Result, named_params};

use super::{dead, first_sweep};
use crate::store::{EventKey, EventReply, Item, Queue, Reply};

pub(super) fn receive(
    db: &Connection,
    items: &[Item],
    now_ms: i64,
    expires_ms: i64,
    sweep_every_ms: i64,
) -> Result<Reply> {
    let (mut new, mut known, mut dead) = (0, 0, 0);
    for item in items {
        if !is_new(db, &item.key, now_ms, expires_ms, sweep_every_ms)? {
            known += 1;
            continue;
        }
        match &item.error {
            None => {
                insert_job(db, item, Some(now_ms))?;
                new += 1;
            }
            Some(error) => {
                let id = insert_job(db, item, None)?;
                dead::write(db, Queue::Job, id, error, now_ms)?;
                dead += 1;
            }
        }
    }
    Ok(Reply::Event(EventReply::Received { new, known, dead }))
}

/// Inserts the inbox row. One that has expired and is not yet swept counts as gone.
fn is_new(db: &Connection, key: &EventKey, now_ms: i64, expires_ms: i64, every_ms: i64) -> Result<bool> {
    let due = first_sweep(":expires_ms", ":every_ms");
    let changed = db
        .prepare_cached(&format!(
            "INSERT INTO inbox VALUES (:provider, :endpoint, :event_id, :item, :subscriber, :now_ms, :expires_ms, {due})
             ON CONFLICT DO UPDATE SET received_ms = excluded.received_ms, expires_ms = excluded.expires_ms,
                                       due_ms = excluded.due_ms
             WHERE inbox.expires_ms <= :now_ms"
        ))?
        .execute(named_params! {
            ":provider": key.provider,
            ":endpoint": key.endpoint,
            ":event_id": key.event_id,
            ":item": key.item,
            ":subscriber": key.subscriber,
            ":now_ms": now_ms,
            ":expires_ms": expires_ms,
            ":every_ms": every_ms,
        })?;
    Ok(changed > 0)
}

/// Inserts the job, due at once, or dead.
fn insert_job(db: &Connection, item: &Item, due_ms: Option<i64>) -> Result<i64> {
    let state = match due_ms {
        Some(_) => "ready",
        None => "dead",
    };
    db.prepare_cached(
        "INSERT INTO job (provider, endpoint, event_id, item, subscriber, payload, state, due_ms)
         VALUES (:provider, :endpoint, :event_id, :item, :subscriber, :payload, :state, :due_ms)",
    )?
    .insert(named_params! {
        ":provider": item.key.provider,
        ":endpoint": item.key.endpoint,
        ":event_id": item.key.event_id,
        ":item": item.key.item,
        ":subscriber": item.key.subscriber,
        ":payload": item.payload,
        ":state": state,
        ":due_ms": due_ms,
    })
}
