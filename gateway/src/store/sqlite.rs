//! The records in SQLite: each command is one transaction, and every condition is in the statement that writes.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, config::DbConfig};

use super::{Answer, Command, Record, StoreError, Waiting, rows, schema, transitions};

/// Enough for every statement of every command.
const CACHED_STATEMENTS: usize = 96;

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// SQLite says why.
    #[error("the database cannot be opened: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// There is no thread for it.
    #[error("the database's thread cannot be started: {0}")]
    Thread(std::io::Error),
}

/// One SQLite database.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
}

impl SqliteStore {
    /// A store that lives as long as this value.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn in_memory() -> Result<Self, OpenError> {
        Self::over(Connection::open_in_memory()?)
    }

    /// The store in this file, made if need be. A commit is on the disk when it returns (S5).
    ///
    /// # Errors
    /// What SQLite says.
    pub fn at(path: &Path) -> Result<Self, OpenError> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        Self::over(connection)
    }

    /// How long a command waits for another process that has locked the file.
    pub(super) fn wait_for_locks(&mut self, patience: Duration) -> Result<(), OpenError> {
        Ok(self.connection.busy_timeout(patience)?)
    }

    fn over(mut connection: Connection) -> Result<Self, OpenError> {
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        // A plan that holds for every value is made once; else each new bound of a sweep has it made again.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        schema::migrate(&mut connection)?;
        Ok(Self { connection })
    }

    /// Makes the store as good as new, for whoever plays many short lives of one: its statements stay prepared.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn clear(&mut self) -> Result<(), OpenError> {
        // Each statement for itself: within a transaction each would keep a journal of its own, which costs twice as much.
        Ok(schema::clear(&self.connection)?)
    }

    /// Executes one command as one transaction.
    ///
    /// # Errors
    /// [`StoreError::Refused`] where nothing was executed, [`StoreError::Ambiguous`] where the commit itself
    /// failed.
    pub fn execute(&mut self, command: &Command) -> Result<Answer, StoreError> {
        let transaction = Transaction::begin(&self.connection).map_err(|error| refused(&error))?;
        let answer = transitions::run(&self.connection, command)
            .and_then(|reply| {
                let next = transitions::next(&self.connection)?;
                Ok(Answer { reply, next_due_ms: next.due_ms(), next_work_ms: next.work_ms })
            })
            .map_err(|error| refused(&error))?;
        match transaction.commit() {
            Ok(()) => Ok(answer),
            Err(error) => Err(StoreError::Ambiguous(error.to_string())),
        }
    }

    /// Runs a statement of its own, with `?1`, `?2`, … bound to texts, beside all commands and their conditions: for
    /// whoever plays a store that decides wrongly. Gives how many rows changed.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with what SQLite says.
    pub fn tamper(&self, sql: &str, values: &[&str]) -> Result<usize, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| refused(&error))?;
        statement.execute(rusqlite::params_from_iter(values)).map_err(|error| refused(&error))
    }

    /// Every record, by scope and key, as its row has it.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with what SQLite says.
    pub fn records(&self) -> Result<Vec<Record>, StoreError> {
        rows::all(&self.connection).map_err(|error| refused(&error))
    }

    /// Every job and every outbox row, by queue and id.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with what SQLite says.
    pub fn waiting(&self) -> Result<Vec<Waiting>, StoreError> {
        rows::waiting(&self.connection).map_err(|error| refused(&error))
    }
}

/// A transaction that is rolled back where nothing else ends it. rusqlite's own compiles its statements anew each time.
struct Transaction<'a>(&'a Connection);

impl<'a> Transaction<'a> {
    fn begin(connection: &'a Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self(connection))
    }

    /// A commit that fails is rolled back.
    fn commit(self) -> rusqlite::Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // What cannot be rolled back now is rolled back when the connection closes.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

fn refused(error: &rusqlite::Error) -> StoreError {
    StoreError::Refused(error.to_string())
}
