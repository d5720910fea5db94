//! What a client says, and what it hears.

use serde::{Deserialize, Serialize};

use super::tables::Message;

/// One statement. Outside a transaction it is one of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Statement {
    /// `BEGIN`
    Begin,
    /// `COMMIT`
    Commit,
    /// `ROLLBACK`
    Rollback,
    /// `INSERT INTO webhooks(event_id, payload)`, where `event_id` is unique.
    InsertWebhook {
        /// Its id.
        event_id: String,
        /// What came in, as JSON.
        payload: String,
    },
    /// `INSERT INTO outbox(payload, due)`
    InsertMessage {
        /// What it is about, as JSON.
        payload: String,
        /// From when on it may be published, in milliseconds since 1970.
        due_ms: i64,
    },
    /// `SELECT … FROM outbox WHERE due <= $1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`
    TakeMessage {
        /// The time, in milliseconds since 1970.
        now_ms: i64,
    },
    /// `DELETE FROM outbox WHERE id = $1`
    DeleteMessage {
        /// Which.
        id: i64,
    },
    /// `UPDATE outbox SET attempts = $2, due = $3 WHERE id = $1`
    PostponeMessage {
        /// Which.
        id: i64,
        /// How many attempts have failed.
        attempts: u32,
        /// From when on it may be published, in milliseconds since 1970.
        due_ms: i64,
    },
    /// `INSERT INTO dead_letters(payload, error, failed_at)`
    InsertDeadLetter {
        /// What it was about, as JSON.
        payload: String,
        /// Why it was given up.
        error: String,
        /// When, in milliseconds since 1970.
        failed_at_ms: i64,
    },
}

/// What a statement comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It is done.
    Done,
    /// The row that was sought, if there is one.
    Message(Option<Message>),
}

/// Why a statement is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum SqlError {
    /// 23505
    #[error("duplicate key value violates unique constraint \"webhooks_event_id_key\"")]
    UniqueViolation,
    /// 25P02
    #[error("current transaction is aborted, commands ignored until end of transaction block")]
    Aborted,
}

/// What goes back for a [`Statement`].
pub type Outcome = Result<Answer, SqlError>;
