//! The tables, the transactions that are open on them, and what was committed so far.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard},
};

use tokio::sync::watch;

use super::tables::{Change, DeadLetter, Message, Tables};
use crate::sim::stage::Stage;

/// A shared handle to a PostgreSQL, which outlives its host.
#[derive(Clone)]
pub struct Postgres {
    pub(super) shared: Arc<Shared>,
}

/// What all sessions share.
pub struct Shared {
    book: Mutex<Book>,
    /// Counts the transactions that have ended: whoever waits for a lock looks again.
    pub ended: watch::Sender<u64>,
    /// Hears of every statement.
    pub stage: Arc<Stage>,
}

/// All of its state.
#[derive(Default)]
pub struct Book {
    /// What is committed.
    pub tables: Tables,
    /// What is not, by session.
    pub open: BTreeMap<u64, Transaction>,
    /// Every transaction that was committed, in order: what a database that loses commits still has.
    pub commits: Vec<Vec<Change>>,
    /// Counts the sessions.
    pub sessions: u64,
    /// Numbers the messages. A number is not given back by a ROLLBACK.
    pub messages: i64,
}

/// A transaction that is open.
#[derive(Default)]
pub struct Transaction {
    /// What it will do.
    pub changes: Vec<Change>,
    /// The messages that are locked by it.
    pub locked: BTreeSet<i64>,
    /// One of its statements was refused: there is nothing left but to end it.
    pub is_aborted: bool,
}

impl Book {
    /// Whether another session has inserted this id and not ended its transaction.
    pub fn is_being_inserted(&self, by_other_than: u64, id: &str) -> bool {
        let others = self.open.iter().filter(|(session, _)| **session != by_other_than);
        let mut changes = others.flat_map(|(_, transaction)| &transaction.changes);
        changes.any(|change| matches!(change, Change::Webhook { event_id, .. } if event_id == id))
    }

    /// The messages that nobody has locked.
    pub fn free(&self) -> impl Iterator<Item = &Message> {
        let locked = |id: &i64| self.open.values().any(|transaction| transaction.locked.contains(id));
        self.tables.outbox.values().filter(move |message| !locked(&message.id))
    }
}

impl Postgres {
    /// Empty tables.
    #[must_use]
    pub fn new(stage: Arc<Stage>) -> Self {
        let shared = Shared { book: Mutex::default(), ended: watch::Sender::new(0), stage };
        Self { shared: Arc::new(shared) }
    }

    /// Forgets the last `n` commits: the tables are made again from the earlier ones.
    pub fn lose_commits(&self, n: u32) {
        let mut book = self.shared.book();
        let kept = book.commits.len().saturating_sub(n as usize);
        book.commits.truncate(kept);
        let mut tables = Tables::default();
        book.commits.iter().flatten().for_each(|change| tables.apply(change));
        book.tables = tables;
        drop(book);
        self.shared.ended.send_modify(|ended| *ended += 1);
    }

    /// When the next message may be published, in milliseconds since 1970. Whoever polls in vain may leave it out.
    #[must_use]
    pub fn next_due_ms(&self) -> Option<i64> {
        self.shared.book().free().map(|message| message.due_ms).min()
    }

    /// Tells of every transaction that ends.
    #[must_use]
    pub fn ended(&self) -> watch::Receiver<u64> {
        self.shared.ended.subscribe()
    }

    /// What was given up so far.
    #[must_use]
    pub fn dead_letters(&self) -> Vec<DeadLetter> {
        self.shared.book().tables.dead_letters.clone()
    }
}

impl Shared {
    /// All of its state.
    pub fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("a panic in the database ends the run")
    }
}
