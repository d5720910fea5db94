//! Why a webhook is not processed.

use std::io;

use crate::sim::actors::postgres::SqlError;

/// What throws.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The database refuses a statement.
    #[error("{0}")]
    Sql(#[from] SqlError),
    /// The database is not there, or the connection broke: the statement may have been executed.
    #[error("the database: {0}")]
    Database(io::Error),
    /// The connection to Redis broke: the command may have been done.
    #[error("Redis: {0}")]
    Redis(io::Error),
    /// Redis refuses a command.
    #[error("Redis: {0}")]
    Refused(String),
    /// The customer was not answered, as far as is known.
    #[error("{0}")]
    Reply(String),
}
