//! A book in SQLite.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::ready;
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::{Book, BookError, Entry, Noted, Order, OrderState, Taken};
use crate::world::BoxFuture;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS placed_order (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        content TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT 'open',
        steps_done INTEGER NOT NULL DEFAULT 0,
        failures INTEGER NOT NULL DEFAULT 0,
        why TEXT
    );
    CREATE INDEX IF NOT EXISTS placed_order_open ON placed_order (number) WHERE state = 'open';
    CREATE TABLE IF NOT EXISTS order_step (
        id TEXT NOT NULL,
        step INTEGER NOT NULL,
        key TEXT,
        made TEXT,
        PRIMARY KEY (id, step)
    ) WITHOUT ROWID;
";

/// One SQLite database. Each command is a short transaction on the caller's thread.
#[derive(Debug, Clone)]
pub struct SqliteBook {
    connection: Arc<Mutex<Connection>>,
}

impl SqliteBook {
    /// A book that lives as long as this value and its clones.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn in_memory() -> Result<Self, BookError> {
        Self::over(Connection::open_in_memory().map_err(refused)?)
    }

    /// The book in this file, made if need be. A commit is on the disk when it returns.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn at(path: &Path) -> Result<Self, BookError> {
        let connection = Connection::open(path).map_err(refused)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(refused)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(refused)?;
        Self::over(connection)
    }

    fn over(connection: Connection) -> Result<Self, BookError> {
        connection.execute_batch(SCHEMA).map_err(refused)?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)) })
    }

    /// Every order that was given up, with why, in the order in which they were taken: what a person has to look at.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn given_up(&self) -> Result<Vec<Entry>, BookError> {
        let connection = self.lock();
        let sql = "SELECT id FROM placed_order WHERE state = 'given-up' ORDER BY number";
        let ids = ids(&connection, sql).map_err(refused)?;
        ids.iter().filter_map(|id| entry(&connection, id).transpose()).collect()
    }

    /// A panic under the lock rolled its transaction back, so the database is whole.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, BookError> {
        let mut connection = self.lock();
        let transaction = connection.transaction().map_err(refused)?;
        let done = work(&transaction).map_err(refused)?;
        transaction.commit().map_err(refused)?;
        Ok(done)
    }
}

impl Book for SqliteBook {
    fn take(&self, order: Order, keys: Vec<Option<String>>) -> BoxFuture<Result<Taken, BookError>> {
        let taken = serde_json::to_string(&order)
            .map_err(|error| BookError(error.to_string()))
            .and_then(|content| self.write(|transaction| take(transaction, &order.id, &content, &keys)));
        Box::pin(ready(taken))
    }

    fn open(&self) -> BoxFuture<Result<Vec<String>, BookError>> {
        let sql = "SELECT id FROM placed_order WHERE state = 'open' ORDER BY number";
        let open = ids(&self.lock(), sql).map_err(refused);
        Box::pin(ready(open))
    }

    fn entry(&self, id: &str) -> BoxFuture<Result<Option<Entry>, BookError>> {
        let entry = entry(&self.lock(), id);
        Box::pin(ready(entry))
    }

    fn note(&self, id: &str, what: Noted) -> BoxFuture<Result<(), BookError>> {
        let noted = self.write(|transaction| note(transaction, id, &what));
        Box::pin(ready(noted))
    }
}

fn take(
    transaction: &Transaction<'_>,
    id: &str,
    content: &str,
    keys: &[Option<String>],
) -> rusqlite::Result<Taken> {
    let insert = "INSERT INTO placed_order (id, content) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    if transaction.execute(insert, (id, content))? == 0 {
        let select = "SELECT content = ?2 FROM placed_order WHERE id = ?1";
        let is_same: bool = transaction.query_row(select, (id, content), |row| row.get(0))?;
        return Ok(if is_same { Taken::Known } else { Taken::Other });
    }
    for (step, key) in keys.iter().enumerate() {
        transaction
            .execute("INSERT INTO order_step (id, step, key) VALUES (?1, ?2, ?3)", (id, number(step), key))?;
    }
    Ok(Taken::New)
}

fn note(transaction: &Transaction<'_>, id: &str, what: &Noted) -> rusqlite::Result<()> {
    match what {
        Noted::Acted { step, id: made } => {
            let update = "UPDATE order_step SET made = ?3 WHERE id = ?1 AND step = ?2";
            transaction.execute(update, (id, number(*step), made))?;
            // The last step closes the order in the same transaction.
            let update = "UPDATE placed_order SET steps_done = ?2, failures = 0, state = CASE
                              WHEN ?2 = (SELECT count(*) FROM order_step WHERE id = ?1) THEN 'done' ELSE state END
                          WHERE id = ?1";
            transaction.execute(update, (id, number(step + 1)))?;
        }
        Noted::Failed => {
            transaction.execute("UPDATE placed_order SET failures = failures + 1 WHERE id = ?1", [id])?;
        }
        Noted::Rekeyed { step, key } => {
            let update = "UPDATE order_step SET key = ?3 WHERE id = ?1 AND step = ?2";
            transaction.execute(update, (id, number(*step), key))?;
        }
        Noted::GivenUp { why } => {
            let update = "UPDATE placed_order SET state = 'given-up', why = ?2 WHERE id = ?1";
            transaction.execute(update, (id, why))?;
        }
    }
    Ok(())
}

fn ids(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    connection.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect()
}

fn entry(connection: &Connection, id: &str) -> Result<Option<Entry>, BookError> {
    let select = "SELECT content, state, steps_done, failures, why FROM placed_order WHERE id = ?1";
    type Row = (String, String, i64, u32, Option<String>);
    let row: Option<Row> = connection
        .query_row(select, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .optional()
        .map_err(refused)?;
    let Some((content, state, steps_done, failures, why)) = row else { return Ok(None) };
    let order = serde_json::from_str(&content).map_err(|error| BookError(error.to_string()))?;
    let state = match state.as_str() {
        "open" => OrderState::Open,
        "done" => OrderState::Done,
        _ => OrderState::GivenUp,
    };
    let steps_done = usize::try_from(steps_done).map_err(refused)?;
    let (keys, made) = steps(connection, id).map_err(refused)?.into_iter().unzip();
    Ok(Some(Entry { order, keys, made, steps_done, failures, state, why }))
}

/// The key of each step, and what it made.
fn steps(connection: &Connection, id: &str) -> rusqlite::Result<Vec<(Option<String>, Option<String>)>> {
    let select = "SELECT key, made FROM order_step WHERE id = ?1 ORDER BY step";
    connection.prepare_cached(select)?.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// A step's number as SQLite has it. No order has so many that it does not fit.
fn number(step: usize) -> i64 {
    i64::try_from(step).unwrap_or(i64::MAX)
}

fn refused(error: impl std::fmt::Display) -> BookError {
    BookError(error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::producer::{Keys, Step, Target};

    fn order(id: &str, text: &str) -> Order {
        let step = |target| Step { target, content: json!({ "text": text }) };
        let send = Target::OfCreated { step: 0, route: "messages/text".into() };
        Order { id: id.into(), keys: Keys::Random, steps: vec![step(Target::NewInstance), step(send)] }
    }

    fn keys(names: [&str; 2]) -> Vec<Option<String>> {
        names.iter().map(|name| Some((*name).to_owned())).collect()
    }

    #[tokio::test]
    async fn an_order_is_written_once_with_its_keys() {
        let book = SqliteBook::in_memory().unwrap();
        assert_eq!(book.take(order("a", "x"), keys(["k1", "k2"])).await.unwrap(), Taken::New);
        assert_eq!(book.take(order("a", "x"), keys(["k3", "k4"])).await.unwrap(), Taken::Known);
        assert_eq!(book.take(order("a", "y"), keys(["k5", "k6"])).await.unwrap(), Taken::Other);
        let entry = book.entry("a").await.unwrap().unwrap();
        assert_eq!((entry.order, entry.keys), (order("a", "x"), keys(["k1", "k2"])));
        assert_eq!(book.entry("b").await.unwrap(), None);
    }

    #[tokio::test]
    async fn the_last_step_closes_an_order() {
        let book = SqliteBook::in_memory().unwrap();
        book.take(order("a", "x"), keys(["k1", "k2"])).await.unwrap();
        book.note("a", Noted::Failed).await.unwrap();
        book.note("a", Noted::Acted { step: 0, id: Some("4711".into()) }).await.unwrap();
        let entry = book.entry("a").await.unwrap().unwrap();
        assert_eq!((entry.steps_done, entry.failures, entry.state), (1, 0, OrderState::Open));
        assert_eq!(entry.made, [Some("4711".to_owned()), None]);
        book.note("a", Noted::Acted { step: 1, id: None }).await.unwrap();
        assert_eq!(book.entry("a").await.unwrap().unwrap().state, OrderState::Done);
        assert_eq!(book.open().await.unwrap(), [""; 0]);
    }

    #[tokio::test]
    async fn what_is_written_outlives_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.db");
        let first = SqliteBook::at(&path).unwrap();
        for id in ["b", "a", "c"] {
            first.take(order(id, "x"), keys(["k1", "k2"])).await.unwrap();
        }
        first.note("a", Noted::Failed).await.unwrap();
        first.note("a", Noted::Rekeyed { step: 1, key: "k9".into() }).await.unwrap();
        first.note("c", Noted::GivenUp { why: "422 key-reused".into() }).await.unwrap();
        drop(first);
        let second = SqliteBook::at(&path).unwrap();
        assert_eq!(second.open().await.unwrap(), ["b", "a"], "in the order in which they were taken");
        let entry = second.entry("a").await.unwrap().unwrap();
        assert_eq!((entry.failures, entry.keys), (1, keys(["k1", "k9"])));
        let given_up = second.given_up().unwrap();
        let [entry] = given_up.as_slice() else { panic!("{given_up:?}") };
        assert_eq!((entry.order.id.as_str(), entry.why.as_deref()), ("c", Some("422 key-reused")));
    }
}
