//! Dead letters: what nobody tries any more, with its payload, why and since when (W8).

use rusqlite::{Connection, OptionalExtension, Result, Row, named_params};

use crate::store::{DeadFilter, DeadLetter, EventReply, Queue, Reply};

/// Writes the letter of a row that has just died. Its time is that of the first death: the age past which nothing is
/// redriven does not start anew.
pub(super) fn write(db: &Connection, queue: Queue, id: i64, error: &str, now_ms: i64) -> Result<()> {
    let table = queue.table();
    db.prepare_cached(&format!(
        "INSERT INTO dead_letter (queue, row, payload, error, died_ms)
         SELECT '{table}', id, payload, :error, :now_ms FROM {table} WHERE id = :id
         ON CONFLICT DO UPDATE SET error = excluded.error"
    ))?
    .execute(named_params! { ":id": id, ":error": error, ":now_ms": now_ms })?;
    Ok(())
}

/// The row is done after all.
pub(super) fn forget(db: &Connection, queue: Queue, id: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM dead_letter WHERE queue = ?1 AND row = ?2")?
        .execute((queue.table(), id))?;
    Ok(())
}

/// Dead → ready on the same row, with the same key: whoever comes second finds it ready, or alive (W8).
pub(super) fn redrive(db: &Connection, id: i64, now_ms: i64, oldest_ms: i64) -> Result<Reply> {
    let found = db
        .prepare_cached("SELECT queue, row, died_ms FROM dead_letter WHERE id = ?1")?
        .query_row([id], |row| Ok((queue_of(row)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)))
        .optional()?;
    let Some((queue, row, died_ms)) = found else {
        return Ok(Reply::Absent);
    };
    if died_ms < oldest_ms {
        return Ok(Reply::Event(EventReply::TooOld));
    }
    let table = queue.table();
    let changed = db
        .prepare_cached(&format!(
            "UPDATE {table} SET state = 'ready', attempts = 0, due_ms = :now_ms WHERE id = :row AND state = 'dead'"
        ))?
        .execute(named_params! { ":row": row, ":now_ms": now_ms })?;
    Ok(match changed {
        0 => Reply::Event(EventReply::NotDead),
        _ => Reply::Applied,
    })
}

/// What is dead of these rows, the oldest first. Those that are too old are counted, and are in nobody's way.
pub(super) fn redrive_all(
    db: &Connection,
    filter: &DeadFilter,
    now_ms: i64,
    oldest_ms: i64,
    limit: u32,
) -> Result<Reply> {
    let oldest_ms = Some(oldest_ms);
    let young = DeadFilter { died_from_ms: filter.died_from_ms.max(oldest_ms), ..filter.clone() };
    let old_before_ms = filter.died_before_ms.map_or(oldest_ms, |before_ms| oldest_ms.min(Some(before_ms)));
    let old = DeadFilter { died_before_ms: old_before_ms, ..filter.clone() };
    let mut ids = select(db, &young, limit, "letter.id", |row| row.get::<_, i64>("id"))?;
    let is_cut = cut(&mut ids, limit);
    let mut ready = 0;
    for id in ids {
        ready += u32::from(redrive(db, id, now_ms, i64::MIN)? == Reply::Applied);
    }
    let too_old = select(db, &old, u32::MAX, "COUNT(*) AS old", |row| row.get::<_, u32>("old"))?;
    let too_old = too_old.first().copied().unwrap_or_default();
    Ok(Reply::Event(EventReply::Redriven { ready, too_old, is_cut }))
}

pub(super) fn list(db: &Connection, filter: &DeadFilter, limit: u32) -> Result<Reply> {
    let columns = "letter.queue, letter.id, letter.payload, letter.error, letter.died_ms,
        COALESCE(job.attempts, outbox.attempts) AS attempts,
        COALESCE(job.provider, outbox.provider) AS provider,
        COALESCE(job.endpoint, outbox.endpoint) AS endpoint,
        COALESCE(job.subscriber, outbox.subscriber) AS subscriber,
        COALESCE(outbox.effect, job.provider || ':' || job.endpoint || ':' || job.event_id || ':' || job.item
            || ':' || job.subscriber) AS about";
    let mut letters = select(db, filter, limit, columns, letter)?;
    let is_cut = cut(&mut letters, limit);
    Ok(Reply::Event(EventReply::Dead { letters, is_cut }))
}

/// One more than was asked for, so that [`cut`] can tell whether there are more.
fn select<T>(
    db: &Connection,
    filter: &DeadFilter,
    limit: u32,
    columns: &str,
    read: fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    db.prepare_cached(&format!(
        "SELECT {columns} FROM dead_letter AS letter
         LEFT JOIN job ON letter.queue = 'job' AND job.id = letter.row
         LEFT JOIN outbox ON letter.queue = 'outbox' AND outbox.id = letter.row
         WHERE COALESCE(job.state, outbox.state) = 'dead'
           AND (:provider IS NULL OR COALESCE(job.provider, outbox.provider) = :provider)
           AND (:endpoint IS NULL OR COALESCE(job.endpoint, outbox.endpoint) = :endpoint)
           AND (:subscriber IS NULL OR COALESCE(job.subscriber, outbox.subscriber) = :subscriber)
           AND (:error IS NULL OR instr(letter.error, :error) > 0)
           AND letter.died_ms >= :from_ms AND letter.died_ms < :before_ms
         ORDER BY letter.died_ms, letter.id LIMIT :limit"
    ))?
    .query_map(
        named_params! {
            ":provider": filter.provider,
            ":endpoint": filter.endpoint,
            ":subscriber": filter.subscriber,
            ":error": filter.error_contains,
            ":from_ms": filter.died_from_ms.unwrap_or(i64::MIN),
            ":before_ms": filter.died_before_ms.unwrap_or(i64::MAX),
            ":limit": i64::from(limit) + 1,
        },
        read,
    )?
    .collect()
}

/// Drops what is more than was asked for; tells whether there was any.
fn cut<T>(found: &mut Vec<T>, limit: u32) -> bool {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_cut = found.len() > limit;
    found.truncate(limit);
    is_cut
}

fn letter(row: &Row<'_>) -> Result<DeadLetter> {
    Ok(DeadLetter {
        id: row.get("id")?,
        queue: queue_of(row)?,
        about: row.get("about")?,
        provider: row.get("provider")?,
        endpoint: row.get("endpoint")?,
        subscriber: row.get("subscriber")?,
        payload: row.get("payload")?,
        error: row.get("error")?,
        died_ms: row.get("died_ms")?,
        attempts: row.get("attempts")?,
    })
}

fn queue_of(row: &Row<'_>) -> Result<Queue> {
    Ok(match row.get::<_, String>("queue")?.as_str() {
        "outbox" => Queue::Outbox,
        _ => Queue::Job,
    })
}
