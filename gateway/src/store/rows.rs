//! A record's row, read.

use rusqlite::{
    Connection, OptionalExtension, Row,
    types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef},
};

use super::{Queue, Slot, State, StoredAnswer, View};

/// A record as an inspection lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The key.
    pub slot: Slot,
    /// Where the record stands in its row, whatever the time.
    pub state: State,
    /// HTTP status of the stored answer.
    pub status: Option<u16>,
    /// Our reference.
    pub reference: Option<String>,
    /// The provider's id.
    pub message_id: Option<String>,
    /// When a sweep or a re-ask has something to do with it, in the clock of the writers.
    pub due_ms: Option<i64>,
}

/// A job or an outbox row as an inspection lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Where it waits.
    pub queue: Queue,
    /// The stable id of the event or the effect.
    pub about: String,
    /// `ready`, `leased`, `parked` or `dead`.
    pub state: String,
    /// Attempts that count.
    pub attempts: u32,
    /// When a worker has something to do with it, in the clock of the writers.
    pub due_ms: Option<i64>,
}

/// A row as the transitions need it.
pub(super) struct Found {
    pub(super) view: View,
    pub(super) fingerprint: String,
    pub(super) lease_end_ms: i64,
    pub(super) expires_ms: Option<i64>,
}

impl ToSql for State {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Claimed => "claimed",
            Self::Dispatching => "dispatching",
            Self::Unknown => "unknown",
            Self::Done => "done",
            Self::Tombstone => "tombstone",
        }
        .into())
    }
}

impl FromSql for State {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "claimed" => Ok(Self::Claimed),
            "dispatching" => Ok(Self::Dispatching),
            "unknown" => Ok(Self::Unknown),
            "done" => Ok(Self::Done),
            "tombstone" => Ok(Self::Tombstone),
            other => Err(FromSqlError::Other(format!("no state is named `{other}`").into())),
        }
    }
}

/// The row of a key, if there is one.
pub(super) fn find(connection: &Connection, slot: &Slot) -> rusqlite::Result<Option<Found>> {
    connection
        .prepare_cached(
            "SELECT state, claim_id, token, reference, status, headers, body, message_id, fingerprint,
                    lease_end_ms, expires_ms
             FROM record WHERE scope = ?1 AND key = ?2",
        )?
        .query_row((&slot.scope, &slot.key), found)
        .optional()
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let message_id: Option<String> = row.get(7)?;
    Ok(Found {
        view: View {
            state: row.get(0)?,
            claim_id: row.get(1)?,
            token: row.get(2)?,
            reference: row.get(3)?,
            answer: stored_answer(row, message_id.clone())?,
            message_id,
        },
        fingerprint: row.get(8)?,
        lease_end_ms: row.get(9)?,
        expires_ms: row.get(10)?,
    })
}

fn stored_answer(row: &Row<'_>, message_id: Option<String>) -> rusqlite::Result<Option<StoredAnswer>> {
    let Some(status) = row.get(4)? else {
        return Ok(None);
    };
    let headers: String = row.get(5)?;
    let headers = serde_json::from_str(&headers).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(5, rusqlite::types::Type::Text, Box::new(error))
    })?;
    Ok(Some(StoredAnswer { status, headers, body: row.get(6)?, message_id }))
}

/// Every record, by scope and key.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Record>> {
    connection
        .prepare_cached(
            "SELECT scope, key, state, status, reference, message_id, due_ms FROM record ORDER BY scope, key",
        )?
        .query_map([], |row| {
            Ok(Record {
                slot: Slot { scope: row.get(0)?, key: row.get(1)? },
                state: row.get(2)?,
                status: row.get(3)?,
                reference: row.get(4)?,
                message_id: row.get(5)?,
                due_ms: row.get(6)?,
            })
        })?
        .collect()
}

/// Every job and every outbox row, by queue and id.
pub(super) fn waiting(connection: &Connection) -> rusqlite::Result<Vec<Waiting>> {
    let mut waiting = Vec::new();
    for (queue, sql) in [
        (
            Queue::Job,
            "SELECT provider || ':' || endpoint || ':' || event_id || ':' || item || ':' || subscriber, state, attempts, due_ms FROM job ORDER BY id",
        ),
        (Queue::Outbox, "SELECT effect, state, attempts, due_ms FROM outbox ORDER BY id"),
    ] {
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| {
            let (about, state) = (row.get(0)?, row.get(1)?);
            Ok(Waiting { queue, about, state, attempts: row.get(2)?, due_ms: row.get(3)? })
        })?;
        waiting.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(waiting)
}
