//! A store on this host's disk, in a thread of its own: a commit waits for the disk, and the gateway's tasks must not.

use std::{path::Path, thread, time::Duration};

use tokio::sync::{mpsc, oneshot};

use super::{Answer, Command, OpenError, SqliteStore, Store, StoreError};
use crate::world::{BoxFuture, SharedWorld, within};

/// Commands that may wait for the thread; who comes later waits to be let in.
const WAITING: usize = 1024;

/// How long the database's file may be locked by another process. Below every store timeout that makes sense.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

type Outcome = Result<Answer, StoreError>;

/// A command, and whoever waits for its outcome.
struct Request {
    command: Command,
    outcome: oneshot::Sender<Outcome>,
}

/// A SQLite file behind a thread, which executes one command after the other.
pub struct DiskStore {
    requests: mpsc::Sender<Request>,
    world: SharedWorld,
    timeout: Duration,
}

impl DiskStore {
    /// Opens the file, made if need be, and starts the thread. A command whose outcome takes longer than `timeout` is
    /// ambiguous.
    ///
    /// # Errors
    /// What SQLite says, and what starting a thread says.
    pub fn open(world: SharedWorld, path: &Path, timeout: Duration) -> Result<Self, OpenError> {
        let mut sqlite = SqliteStore::at(path)?;
        sqlite.wait_for_locks(LOCK_PATIENCE)?;
        let (requests, waiting) = mpsc::channel(WAITING);
        let thread = thread::Builder::new().name("store".into());
        thread.spawn(move || execute_all(sqlite, waiting)).map_err(OpenError::Thread)?;
        Ok(Self { requests, world, timeout })
    }
}

/// Ends when the store is dropped.
fn execute_all(mut sqlite: SqliteStore, mut waiting: mpsc::Receiver<Request>) {
    while let Some(Request { command, outcome }) = waiting.blocking_recv() {
        // Whoever no longer waits counts on the command's being executed, or on nothing.
        let _ = outcome.send(sqlite.execute(&command));
    }
}

impl Store for DiskStore {
    fn execute(&self, command: Command) -> BoxFuture<Outcome> {
        let (requests, world, timeout) = (self.requests.clone(), self.world.clone(), self.timeout);
        Box::pin(async move {
            let (outcome, answered) = oneshot::channel();
            let exchange = async {
                let request = Request { command, outcome };
                requests.send(request).await.map_err(|_| ended())?;
                answered
                    .await
                    .unwrap_or_else(|_| Err(StoreError::Ambiguous("the store's thread ended".into())))
            };
            let late = || Err(StoreError::Ambiguous("the disk did not answer in time".into()));
            within(&*world, timeout, exchange).await.unwrap_or_else(late)
        })
    }
}

fn ended() -> StoreError {
    StoreError::Unreached("the store's thread has ended".into())
}
