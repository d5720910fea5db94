//! The tables, by version: `PRAGMA user_version` counts the migrations that a database has seen.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Each entry brings a database from its index to the next version. Entries are never edited, only added.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE sequence (last INTEGER NOT NULL);
    INSERT INTO sequence VALUES (0);
    CREATE TABLE record (
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        state TEXT NOT NULL,
        claim_id TEXT NOT NULL,
        token INTEGER NOT NULL,
        lease_end_ms INTEGER NOT NULL,
        reference TEXT,
        request TEXT,
        first_dispatch_ms INTEGER,
        last_request_ms INTEGER,
        asks INTEGER NOT NULL DEFAULT 0,
        settle_token INTEGER,
        settle_lease_end_ms INTEGER,
        next_ask_ms INTEGER,
        status INTEGER,
        headers TEXT,
        body TEXT,
        message_id TEXT,
        expires_ms INTEGER,
        due_ms INTEGER,
        PRIMARY KEY (scope, key)
    );
    CREATE INDEX record_due ON record (due_ms) WHERE due_ms IS NOT NULL;
",
    "
    ALTER TABLE record ADD COLUMN queries INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX record_reference ON record (reference) WHERE reference IS NOT NULL;
    CREATE INDEX record_message ON record (message_id) WHERE message_id IS NOT NULL;
    CREATE INDEX record_open ON record (first_dispatch_ms) WHERE state IN ('dispatching', 'unknown');
",
];

/// Brings the database up to date. A database of a newer release is left alone.
///
/// # Errors
/// What SQLite says; nothing is half done then.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? >= MIGRATIONS.len() {
        return Ok(());
    }
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    // Read again: another process may have migrated while this one waited for the lock.
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(version(&transaction)?) {
        transaction.execute_batch(migration)?;
        transaction.execute_batch(&format!("PRAGMA user_version = {}", index + 1))?;
    }
    transaction.commit()
}

/// Empties every table, and begins the sequence anew.
///
/// # Errors
/// What SQLite says.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let names: Vec<String> =
        connection.prepare_cached(tables)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for name in names.iter().filter(|name| *name != "sequence") {
        connection.prepare_cached(&format!("DELETE FROM {name}"))?.execute([])?;
    }
    connection.prepare_cached("UPDATE sequence SET last = 0")?.execute([])?;
    Ok(())
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}
