//! The host `database`: executes store frames on SQLite, and writes down what each of them did.
//!
//! Its state lives outside the host, so a crash loses what was not committed and nothing else.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use onceproof_gateway::{
    store::{
        Answer, Command, DeadFilter, DeadLetter, EventCommand, EventReply, OpenError, Record, Reply, Store,
        StoreError, wire,
    },
    world::{BoxFuture, BoxIo, SharedWorld},
};

mod statements;
mod waiting;

use self::{
    statements::{changes, events},
    waiting::Waiting,
};
use super::pool::Pooled;
use crate::{
    history::Event,
    mutants::{Planted, Unplanted},
    sim::{clock::wall_ms, digest::Kind, stage::Stage},
};

/// The transaction is in hand; nothing of it is visible.
pub const BEFORE_COMMIT: &str = "before-commit";
/// The transaction is durable; nobody knows yet.
pub const AFTER_COMMIT: &str = "after-commit";

/// The points of this host.
pub const POINTS: &[&str] = &[BEFORE_COMMIT, AFTER_COMMIT];

/// More than any plan can have.
const ROWS_MAX: u32 = 100_000;

const UNPOISONED: &str = "a panic in the store ends the run";

/// A store that several hosts may share, and the stage that hears of every statement.
#[derive(Clone)]
pub struct WatchedStore {
    name: Arc<str>,
    sqlite: Arc<Mutex<Pooled>>,
    /// Every command that changed something, in order: what a database that loses commits still has.
    commits: Arc<Mutex<Vec<Command>>>,
    /// What is known of the rows that wait for a worker.
    waiting: Arc<Mutex<Waiting>>,
    stage: Arc<Stage>,
    planted: Planted,
    has_started: Arc<AtomicBool>,
}

impl WatchedStore {
    /// An empty store in memory, which a history calls `name`.
    ///
    /// # Errors
    /// When SQLite cannot make one.
    pub fn open(name: &str, stage: Arc<Stage>) -> Result<Self, OpenError> {
        let sqlite = Pooled::take()?;
        let sqlite = Arc::new(Mutex::new(sqlite));
        Ok(Self {
            name: name.into(),
            sqlite,
            commits: Arc::default(),
            waiting: Arc::default(),
            stage,
            planted: Arc::new(Unplanted),
            has_started: Arc::default(),
        })
    }

    /// The same with a mistake planted in it.
    #[must_use]
    pub fn planted(self, planted: Planted) -> Self {
        Self { planted, ..self }
    }

    /// Its host starts. What a planted mistake forgets when a host dies is gone then.
    pub fn start(&self) {
        let forgotten = self.planted.commits_forgotten();
        if self.has_started.swap(true, Ordering::Relaxed) && forgotten > 0 {
            self.lose_commits(forgotten);
        }
    }

    /// Executes one command, and records it as done at `at_ms` on `host`.
    fn execute(&self, at_ms: u64, host: &str, command: Command) -> Result<Answer, StoreError> {
        let answer = self.planted.execute(&mut self.sqlite.lock().expect(UNPOISONED), &command);
        let statement = serde_json::to_vec(&(&command, &answer.as_ref().ok())).unwrap_or_default();
        self.stage.digest(Kind::Statement, &[host.as_bytes(), &statement]);
        if let Ok(answer) = &answer {
            let told = match &command {
                Command::Event(command) => {
                    let mut waiting = self.waiting.lock().expect(UNPOISONED);
                    waiting.observe(&self.name, &self.stage, command, &answer.reply).into_iter().collect()
                }
                _ => events(&self.name, &command, &answer.reply),
            };
            for event in told {
                self.stage.record(at_ms, host, event);
            }
            if changes(&command, &answer.reply) {
                self.commits.lock().expect(UNPOISONED).push(command);
            }
        }
        answer
    }

    /// Forgets the last `n` commits: the state is made again from the earlier ones.
    pub fn lose_commits(&self, n: u32) {
        let mut commits = self.commits.lock().expect(UNPOISONED);
        let kept = commits.len().saturating_sub(n as usize);
        commits.truncate(kept);
        let mut rebuilt = Pooled::take().expect("SQLite opens in memory");
        for command in commits.iter() {
            // It was executed before, on the same state.
            let _ = rebuilt.execute(command);
        }
        *self.sqlite.lock().expect(UNPOISONED) = rebuilt;
    }

    /// Every record as it stands.
    pub fn records(&self, now_ms: u64) -> Vec<Event> {
        let records = self.sqlite.lock().expect(UNPOISONED).records();
        let to_event = |record: Record| Event::Record {
            scope: record.slot.scope,
            key: record.slot.key,
            state: record.state,
            status: record.status,
            reference: record.reference,
            overdue_ms: record.due_ms.and_then(|due_ms| u64::try_from(wall_ms(now_ms) - due_ms).ok()),
        };
        let records = records.unwrap_or_default().into_iter().map(to_event);
        records.chain(self.dead_letters()).collect()
    }
}

impl WatchedStore {
    /// What it would tell whoever watches, all of it (M1).
    pub fn metrics(&self, now_ms: u64) -> Event {
        let census = Command::Census { now_ms: wall_ms(now_ms), skew_ms: 0, limit: ROWS_MAX };
        let answer = self.sqlite.lock().expect(UNPOISONED).execute(&census);
        let values = match answer.map(|answer| answer.reply) {
            Ok(Reply::Counted { census }) => census.totals(),
            _ => BTreeMap::new(),
        };
        Event::Metrics { of: self.name.to_string(), values }
    }

    /// Every dead letter, known by its marker.
    fn dead_letters(&self) -> Vec<Event> {
        let list = Command::Event(EventCommand::ListDead { filter: DeadFilter::default(), limit: ROWS_MAX });
        let answer = self.sqlite.lock().expect(UNPOISONED).execute(&list);
        let Ok(Answer { reply: Reply::Event(EventReply::Dead { letters, .. }), .. }) = answer else {
            return Vec::new();
        };
        let to_event = |letter: DeadLetter| Event::DeadLetter {
            op: self.stage.operation(&letter.payload).into(),
            why: letter.error,
        };
        letters.into_iter().map(to_event).collect()
    }
}

/// The same store inside a gateway's own process: what a profile that keeps its answers in memory has.
pub struct InProcessStore {
    /// Where its records are.
    pub store: WatchedStore,
    /// The host whose memory it is.
    pub host: String,
    /// That host's world.
    pub world: SharedWorld,
}

impl Store for InProcessStore {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        let at_ms = self.world.since_boot().as_millis() as u64;
        let answer = self.store.execute(at_ms, &self.host, command);
        Box::pin(async move { answer })
    }
}

/// Serves store frames on this port for ever.
///
/// # Errors
/// When the port cannot be bound.
pub async fn serve(host: String, world: SharedWorld, store: WatchedStore, port: u16) -> io::Result<()> {
    let mut listener = world.listen(port).await?;
    loop {
        let connection = listener.accept().await?;
        let (host, inner, store) = (host.clone(), Arc::clone(&world), store.clone());
        world.spawn(Box::pin(async move {
            // A connection that breaks is its client's business: it asks again on another one.
            let _ = serve_connection(&host, &inner, &store, connection).await;
        }));
    }
}

async fn serve_connection(
    host: &str,
    world: &SharedWorld,
    store: &WatchedStore,
    mut connection: BoxIo,
) -> io::Result<()> {
    while let Some(command) = wire::read_frame::<Command>(&mut connection).await? {
        world.reach(BEFORE_COMMIT).await;
        let at_ms = world.since_boot().as_millis() as u64;
        let answer = store.execute(at_ms, host, command);
        world.reach(AFTER_COMMIT).await;
        wire::write_frame(&mut connection, &answer).await?;
    }
    Ok(())
}
