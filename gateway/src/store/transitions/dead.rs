//! Dead letters: what nobody tries any more, with its payload, why and since when (W8).

use rusqlite::{Connection, OptionalExtension, Result, Row, named_params};

use crate::store::{DeadLetter, EventReply, Queue, Reply};

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

pub(super) fn list(db: &Connection, limit: u32) -> Result<Reply> {
    let mut letters = db
        .prepare_cached(
            "SELECT letter.queue, letter.id, letter.payload, letter.error, letter.died_ms,
                    COALESCE(job.attempts, outbox.attempts) AS attempts,
                    COALESCE(outbox.effect, job.provider || ':' || job.event_id || ':' || job.item) AS about
             FROM dead_letter AS letter
             LEFT JOIN job ON letter.queue = 'job' AND job.id = letter.row
             LEFT JOIN outbox ON letter.queue = 'outbox' AND outbox.id = letter.row
             WHERE COALESCE(job.state, outbox.state) = 'dead' ORDER BY letter.died_ms, letter.id LIMIT ?1",
        )?
        .query_map([i64::from(limit) + 1], letter)?
        .collect::<Result<Vec<_>>>()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_cut = letters.len() > limit;
    letters.truncate(limit);
    Ok(Reply::Event(EventReply::Dead { letters, is_cut }))
}

fn letter(row: &Row<'_>) -> Result<DeadLetter> {
    Ok(DeadLetter {
        id: row.get("id")?,
        queue: queue_of(row)?,
        about: row.get("about")?,
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
