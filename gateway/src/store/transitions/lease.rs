//! Leases of jobs and outbox rows: taken, prolonged, and ended by what came of them. The token is tested in the very
//! statement that writes, so that a stale worker can finish, prolong or release nothing (W7).

use rusqlite::{Connection, OptionalExtension, Result, Row, named_params};

use super::{dead, first_sweep, next_token, outcome::Keeping};
use crate::store::{
    Delivery, Done, Effect, EventKey, EventReply, Failure, Queue, Reply, Slot, StatusUpdate, Ticket, Work,
};

/// Both queues, in the order in which equally old rows are leased: what is owed goes first.
const QUEUES: [Queue; 2] = [Queue::Outbox, Queue::Job];

impl Queue {
    /// The name of its table.
    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Outbox => "outbox",
        }
    }
}

/// Makes dead letters of the rows whose last attempt died with its worker (W8); `None` where there are none.
pub(super) fn bury_abandoned(db: &Connection, now_ms: i64, attempts: u32) -> Result<Option<Reply>> {
    let (mut jobs, mut outbox) = (0, 0);
    for queue in QUEUES {
        let table = queue.table();
        let abandoned: Vec<i64> = db
            .prepare_cached(&format!(
                "UPDATE {table} SET state = 'dead', token = NULL, due_ms = NULL
                 WHERE due_ms <= ?1 AND state = 'leased' AND attempts >= ?2 RETURNING id"
            ))?
            .query_map((now_ms, attempts), |row| row.get(0))?
            .collect::<Result<_>>()?;
        for id in abandoned {
            dead::write(db, queue, id, "the last attempt died with its worker", now_ms)?;
            match queue {
                Queue::Job => jobs += 1,
                Queue::Outbox => outbox += 1,
            }
        }
    }
    Ok((jobs + outbox > 0).then_some(Reply::Event(EventReply::Buried { jobs, outbox })))
}

/// Leases the row that is due for the longest time. A leased row is due when its lease is out.
pub(super) fn lease(db: &Connection, now_ms: i64, out_ms: i64) -> Result<Reply> {
    let mut first: Option<(i64, Queue)> = None;
    for queue in QUEUES {
        let due_ms = due(db, queue, now_ms)?;
        first = match (first, due_ms) {
            (Some((earlier_ms, _)), Some(due_ms)) if earlier_ms <= due_ms => first,
            (_, Some(due_ms)) => Some((due_ms, queue)),
            (_, None) => first,
        };
    }
    let Some((_, queue)) = first else {
        return Ok(Reply::Absent);
    };
    let token = next_token(db)?;
    let (table, columns) = match queue {
        Queue::Job => ("job", "provider, endpoint, event_id, item, subscriber"),
        Queue::Outbox => ("outbox", "effect, scope, key"),
    };
    db.prepare_cached(&format!(
        "UPDATE {table} SET state = 'leased', attempts = attempts + 1, token = :token, due_ms = :out_ms
         WHERE id = (SELECT id FROM {table} WHERE due_ms <= :now_ms ORDER BY due_ms, id LIMIT 1)
         RETURNING id, attempts, payload, {columns}"
    ))?
    .query_row(named_params! { ":token": token, ":out_ms": out_ms, ":now_ms": now_ms }, |row| {
        let ticket = Ticket { queue, id: row.get(0)?, token };
        Ok(Reply::Event(EventReply::Leased { ticket, attempt: row.get(1)?, work: work(queue, row)? }))
    })
}

fn due(db: &Connection, queue: Queue, now_ms: i64) -> Result<Option<i64>> {
    let table = queue.table();
    db.prepare_cached(&format!("SELECT due_ms FROM {table} WHERE due_ms <= ?1 ORDER BY due_ms LIMIT 1"))?
        .query_row([now_ms], |row| row.get(0))
        .optional()
}

fn work(queue: Queue, row: &Row<'_>) -> Result<Work> {
    Ok(match queue {
        Queue::Job => Work::Job {
            key: EventKey {
                provider: row.get("provider")?,
                endpoint: row.get("endpoint")?,
                event_id: row.get("event_id")?,
                item: row.get("item")?,
                subscriber: row.get("subscriber")?,
            },
            payload: row.get("payload")?,
        },
        Queue::Outbox => Work::Send {
            effect: Effect {
                id: row.get("effect")?,
                slot: Slot { scope: row.get("scope")?, key: row.get("key")? },
                content: row.get("payload")?,
            },
        },
    })
}

/// A lease never gets shorter.
pub(super) fn heartbeat(db: &Connection, ticket: Ticket, out_ms: i64) -> Result<Reply> {
    let table = ticket.queue.table();
    let changed = db
        .prepare_cached(&format!(
            "UPDATE {table} SET due_ms = MAX(due_ms, :out_ms)
             WHERE id = :id AND token = :token AND state = 'leased'"
        ))?
        .execute(named_params! { ":id": ticket.id, ":token": ticket.token, ":out_ms": out_ms })?;
    Ok(applied_or_fenced(changed))
}

pub(super) fn complete(
    db: &Connection,
    ticket: Ticket,
    now_ms: i64,
    keeping: Keeping,
    done: &Done,
) -> Result<Reply> {
    if ticket.queue == Queue::Job {
        for effect in &done.effects {
            insert_effect(db, ticket, effect, now_ms)?;
        }
    }
    let table = ticket.queue.table();
    let changed = db
        .prepare_cached(&format!(
            "DELETE FROM {table} WHERE id = :id AND token = :token AND state = 'leased'"
        ))?
        .execute(named_params! { ":id": ticket.id, ":token": ticket.token })?;
    if changed == 0 {
        return Ok(applied_or_fenced(changed));
    }
    dead::forget(db, ticket.queue, ticket.id)?;
    if let Some(status) = &done.status {
        apply_status(db, status, keeping)?;
    }
    Ok(Reply::Applied)
}

/// The row bears whose it is from its job, which is there as long as its lease holds.
fn insert_effect(db: &Connection, job: Ticket, effect: &Effect, now_ms: i64) -> Result<()> {
    db.prepare_cached(
        "INSERT INTO outbox (effect, provider, endpoint, subscriber, scope, key, payload, state, due_ms)
         SELECT :effect, provider, endpoint, subscriber, :scope, :key, :payload, 'ready', :now_ms
         FROM job WHERE id = :id AND token = :token AND state = 'leased' ON CONFLICT DO NOTHING",
    )?
    .execute(named_params! {
        ":id": job.id,
        ":token": job.token,
        ":effect": effect.id,
        ":scope": effect.slot.scope,
        ":key": effect.slot.key,
        ":payload": effect.content,
        ":now_ms": now_ms,
    })?;
    Ok(())
}

/// Statuses come in any order and any number: only better evidence changes anything (W11).
fn apply_status(db: &Connection, status: &StatusUpdate, keeping: Keeping) -> Result<()> {
    let (name, rank) = match status.delivery {
        Delivery::Sent => ("sent", 1),
        Delivery::Failed => ("failed", 2),
        Delivery::Delivered => ("delivered", 3),
        Delivery::Read => ("read", 4),
    };
    let due = first_sweep(":expires_ms", ":every_ms");
    db.prepare_cached(&format!(
        "INSERT INTO message_status (message_id, status, rank, due_ms) VALUES (:message_id, :status, :rank, {due})
         ON CONFLICT DO UPDATE SET status = excluded.status, rank = excluded.rank, due_ms = excluded.due_ms
         WHERE excluded.rank > message_status.rank"
    ))?
    .execute(named_params! {
        ":message_id": status.message_id,
        ":status": name,
        ":rank": rank,
        ":expires_ms": keeping.expires_ms,
        ":every_ms": keeping.sweep_every_ms,
    })?;
    Ok(())
}

/// How far a message has come, if a status said so.
pub(super) fn delivery(db: &Connection, message_id: &str) -> Result<Option<Delivery>> {
    let name: Option<String> = db
        .prepare_cached("SELECT status FROM message_status WHERE message_id = ?1")?
        .query_row([message_id], |row| row.get(0))
        .optional()?;
    Ok(name.and_then(|name| match name.as_str() {
        "sent" => Some(Delivery::Sent),
        "failed" => Some(Delivery::Failed),
        "delivered" => Some(Delivery::Delivered),
        "read" => Some(Delivery::Read),
        _ => None,
    }))
}

pub(super) fn fail(
    db: &Connection,
    ticket: Ticket,
    now_ms: i64,
    retry_ms: i64,
    failure: Failure,
    error: &str,
) -> Result<Reply> {
    let changed = match failure {
        Failure::Retry { attempts } => {
            let changed = bury(db, ticket, now_ms, attempts, error)?;
            if changed > 0 { changed } else { again(db, ticket, retry_ms, 0)? }
        }
        Failure::Postpone => again(db, ticket, retry_ms, 1)?,
        Failure::Park => {
            let changed = park(db, ticket, retry_ms)?;
            if changed > 0 { changed } else { again(db, ticket, retry_ms, 1)? }
        }
        Failure::Bury => bury(db, ticket, now_ms, 0, error)?,
    };
    Ok(applied_or_fenced(changed))
}

/// Another attempt at a time, of which `uncounted` are taken back.
fn again(db: &Connection, ticket: Ticket, retry_ms: i64, uncounted: u32) -> Result<usize> {
    let table = ticket.queue.table();
    db.prepare_cached(&format!(
        "UPDATE {table} SET state = 'ready', token = NULL, due_ms = :retry_ms, attempts = attempts - :uncounted
         WHERE id = :id AND token = :token AND state = 'leased'"
    ))?
    .execute(named_params! {
        ":id": ticket.id,
        ":token": ticket.token,
        ":retry_ms": retry_ms,
        ":uncounted": uncounted,
    })
}

/// Sleeps: the outbox row of a send while the record of that send may still change, an echo while no record bears its
/// reference, which may be never. That is tested here, so that no waking is missed.
fn park(db: &Connection, ticket: Ticket, retry_ms: i64) -> Result<usize> {
    let (table, due, uncounted, is_waiting) = match ticket.queue {
        Queue::Outbox => (
            "outbox",
            "NULLIF(:retry_ms, :retry_ms)",
            1,
            "EXISTS (SELECT 1 FROM record WHERE record.scope = outbox.scope AND record.key = outbox.key
                        AND record.state IN ('dispatching', 'unknown'))",
        ),
        Queue::Job => {
            ("job", ":retry_ms", 0, "NOT EXISTS (SELECT 1 FROM record WHERE record.reference = job.event_id)")
        }
    };
    db.prepare_cached(&format!(
        "UPDATE {table} SET state = 'parked', token = NULL, due_ms = {due}, attempts = attempts - {uncounted}
         WHERE id = :id AND token = :token AND state = 'leased' AND {is_waiting}"
    ))?
    .execute(named_params! { ":id": ticket.id, ":token": ticket.token, ":retry_ms": retry_ms })
}

/// A dead letter in the same transaction, if at least so many attempts were made (W8).
fn bury(db: &Connection, ticket: Ticket, now_ms: i64, attempts: u32, error: &str) -> Result<usize> {
    let table = ticket.queue.table();
    let changed = db
        .prepare_cached(&format!(
            "UPDATE {table} SET state = 'dead', token = NULL, due_ms = NULL
             WHERE id = :id AND token = :token AND state = 'leased' AND attempts >= :attempts"
        ))?
        .execute(named_params! { ":id": ticket.id, ":token": ticket.token, ":attempts": attempts })?;
    if changed > 0 {
        dead::write(db, ticket.queue, ticket.id, error, now_ms)?;
    }
    Ok(changed)
}

fn applied_or_fenced(changed: usize) -> Reply {
    match changed {
        0 => Reply::Fenced { view: None },
        _ => Reply::Applied,
    }
}
