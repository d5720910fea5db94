//! Counting, for whoever watches. Each count reads an index and ends at the limit, however much there is.

use rusqlite::{Connection, Result, named_params};

use crate::store::{Census, Queue, Reply, Rows};

pub(super) fn census(db: &Connection, now_ms: i64, skew_ms: i64, limit: u32) -> Result<Reply> {
    let unknown = db
        .prepare_cached(
            "SELECT COUNT(*) FROM (SELECT 1 FROM record WHERE state IN ('dispatching', 'unknown')
                AND (state = 'unknown' OR lease_end_ms + :skew_ms <= :now_ms) LIMIT :limit)",
        )?
        .query_row(named_params! { ":skew_ms": skew_ms, ":now_ms": now_ms, ":limit": limit }, |row| {
            row.get(0)
        })?;
    let census =
        Census { unknown, jobs: rows(db, Queue::Job, limit)?, outbox: rows(db, Queue::Outbox, limit)? };
    Ok(Reply::Counted { census })
}

/// A parked outbox row is due at no time, and a dead one has a letter: neither is among the rows with a time.
fn rows(db: &Connection, queue: Queue, limit: u32) -> Result<Rows> {
    let table = queue.table();
    let mut rows = Rows::default();
    let mut timed = db.prepare_cached(&format!(
        "SELECT state, COUNT(*) FROM (SELECT state FROM {table} WHERE due_ms IS NOT NULL LIMIT ?1) GROUP BY state"
    ))?;
    let mut found = timed.query([limit])?;
    while let Some(row) = found.next()? {
        match row.get::<_, String>(0)?.as_str() {
            "leased" => rows.leased = row.get(1)?,
            "ready" => rows.ready = row.get(1)?,
            _ => {}
        }
    }
    let count = |sql: &str| db.prepare_cached(sql)?.query_row([limit], |row| row.get(0));
    rows.parked =
        count(&format!("SELECT COUNT(*) FROM (SELECT 1 FROM {table} WHERE state = 'parked' LIMIT ?1)"))?;
    rows.dead = count(&format!(
        "SELECT COUNT(*) FROM (SELECT 1 FROM dead_letter AS letter JOIN {table} ON {table}.id = letter.row
             WHERE letter.queue = '{table}' AND {table}.state = 'dead' LIMIT ?1)"
    ))?;
    Ok(rows)
}
