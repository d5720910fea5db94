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
    // Events (W1-W11). A parked row wakes by a trigger: whichever statement takes a record out of `unknown`, or gives it
    // the reference that an echo waits for, none can forget it.
    "
    CREATE TABLE inbox (
        provider TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        event_id TEXT NOT NULL,
        item TEXT NOT NULL,
        subscriber TEXT NOT NULL,
        received_ms INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL,
        due_ms INTEGER NOT NULL,
        PRIMARY KEY (provider, endpoint, event_id, item, subscriber)
    ) WITHOUT ROWID;
    CREATE INDEX inbox_due ON inbox (due_ms);
    CREATE TABLE job (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        provider TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        event_id TEXT NOT NULL,
        item TEXT NOT NULL,
        subscriber TEXT NOT NULL,
        payload TEXT NOT NULL,
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        token INTEGER,
        due_ms INTEGER
    );
    CREATE INDEX job_due ON job (due_ms) WHERE due_ms IS NOT NULL;
    CREATE INDEX job_parked ON job (event_id) WHERE state = 'parked';
    CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        effect TEXT NOT NULL UNIQUE,
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        payload TEXT NOT NULL,
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        token INTEGER,
        due_ms INTEGER
    );
    CREATE INDEX outbox_due ON outbox (due_ms) WHERE due_ms IS NOT NULL;
    CREATE INDEX outbox_parked ON outbox (scope, key) WHERE state = 'parked';
    CREATE TABLE dead_letter (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        queue TEXT NOT NULL,
        row INTEGER NOT NULL,
        payload TEXT NOT NULL,
        error TEXT NOT NULL,
        died_ms INTEGER NOT NULL,
        UNIQUE (queue, row)
    );
    CREATE TABLE message_status (
        message_id TEXT PRIMARY KEY,
        status TEXT NOT NULL,
        rank INTEGER NOT NULL,
        due_ms INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX message_status_due ON message_status (due_ms);
    CREATE TRIGGER record_settled AFTER UPDATE OF state ON record
    WHEN OLD.state IN ('dispatching', 'unknown') AND NEW.state NOT IN ('dispatching', 'unknown')
    BEGIN
        UPDATE outbox SET state = 'ready', due_ms = 0
        WHERE state = 'parked' AND scope = NEW.scope AND key = NEW.key;
    END;
    CREATE TRIGGER record_marked AFTER UPDATE OF reference ON record WHEN NEW.reference IS NOT NULL
    BEGIN
        UPDATE job SET state = 'ready', due_ms = 0 WHERE state = 'parked' AND event_id = NEW.reference;
    END;
    CREATE TRIGGER record_freed AFTER DELETE ON record WHEN OLD.state IN ('dispatching', 'unknown')
    BEGIN
        UPDATE outbox SET state = 'ready', due_ms = 0
        WHERE state = 'parked' AND scope = OLD.scope AND key = OLD.key;
    END;
",
    // Dead letters are asked for by whose they are, also those of the outbox.
    "
    ALTER TABLE outbox ADD COLUMN provider TEXT NOT NULL DEFAULT '';
    ALTER TABLE outbox ADD COLUMN endpoint TEXT NOT NULL DEFAULT '';
    ALTER TABLE outbox ADD COLUMN subscriber TEXT NOT NULL DEFAULT 'reply';
    UPDATE outbox SET provider = substr(effect, 1, instr(effect, ':') - 1),
                      endpoint = substr(scope, 1, instr(scope, '/') - 1);
    CREATE INDEX dead_letter_died ON dead_letter (died_ms);
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
    // The ids of jobs, outbox rows and dead letters.
    connection.prepare_cached("DELETE FROM sqlite_sequence")?.execute([])?;
    Ok(())
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_an_earlier_release_is_somebodys() {
        let mut db = Connection::open_in_memory().unwrap();
        for migration in &MIGRATIONS[..3] {
            db.execute_batch(migration).unwrap();
        }
        let row = "INSERT INTO outbox (effect, scope, key, payload, state)
                   VALUES ('meta:wamid:x:message', 'loja-1/messages/text', 'k', '{}', 'dead')";
        db.execute_batch(&format!("PRAGMA user_version = 3; {row}")).unwrap();
        migrate(&mut db).unwrap();
        let owner: (String, String, String) = db
            .query_row("SELECT provider, endpoint, subscriber FROM outbox", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        assert_eq!(owner, ("meta".into(), "loja-1".into(), "reply".into()));
    }
}
