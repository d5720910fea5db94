//! The host `database`: executes store frames on SQLite, and writes down what each of them did.
//!
//! Its state lives outside the host, so a crash loses what was not committed and nothing else.

use std::{
    io,
    sync::{Arc, Mutex},
};

use onceproof_gateway::{
    store::{Answer, Command, OpenError, Record, Reply, Slot, State, Store, StoreError, Word, wire},
    world::{BoxFuture, BoxIo, SharedWorld},
};

use super::pool::Pooled;
use crate::{
    history::Event,
    sim::{clock::wall_ms, digest::Kind, stage::Stage, wire::STORE_PORT},
};

/// The transaction is in hand; nothing of it is visible.
pub const BEFORE_COMMIT: &str = "before-commit";
/// The transaction is durable; nobody knows yet.
pub const AFTER_COMMIT: &str = "after-commit";

/// The points of this host.
pub const POINTS: &[&str] = &[BEFORE_COMMIT, AFTER_COMMIT];

const UNPOISONED: &str = "a panic in the store ends the run";

/// A store that several hosts may share, and the stage that hears of every statement.
#[derive(Clone)]
pub struct WatchedStore {
    name: Arc<str>,
    sqlite: Arc<Mutex<Pooled>>,
    /// Every command that changed something, in order: what a database that loses commits still has.
    commits: Arc<Mutex<Vec<Command>>>,
    stage: Arc<Stage>,
}

impl WatchedStore {
    /// An empty store in memory, which a history calls `name`.
    ///
    /// # Errors
    /// When SQLite cannot make one.
    pub fn open(name: &str, stage: Arc<Stage>) -> Result<Self, OpenError> {
        let sqlite = Pooled::take()?;
        Ok(Self { name: name.into(), sqlite: Arc::new(Mutex::new(sqlite)), commits: Arc::default(), stage })
    }

    /// Executes one command, and records it as done at `at_ms` on `host`.
    fn execute(&self, at_ms: u64, host: &str, command: &Command) -> Result<Answer, StoreError> {
        let answer = self.sqlite.lock().expect(UNPOISONED).execute(command);
        let statement = serde_json::to_vec(&(command, &answer.as_ref().ok())).unwrap_or_default();
        self.stage.digest(Kind::Statement, &[host.as_bytes(), &statement]);
        if let Ok(answer) = &answer {
            if changes(command, &answer.reply) {
                self.commits.lock().expect(UNPOISONED).push(command.clone());
            }
            for event in events(&self.name, command, &answer.reply) {
                self.stage.record(at_ms, host, event);
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
        records.unwrap_or_default().into_iter().map(to_event).collect()
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
        let answer = self.store.execute(at_ms, &self.host, &command);
        Box::pin(async move { answer })
    }
}

/// Serves store frames for ever.
///
/// # Errors
/// When the port cannot be bound.
pub async fn serve(host: String, world: SharedWorld, store: WatchedStore) -> io::Result<()> {
    let mut listener = world.listen(STORE_PORT).await?;
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
        let answer = store.execute(at_ms, host, &command);
        world.reach(AFTER_COMMIT).await;
        wire::write_frame(&mut connection, &answer).await?;
    }
    Ok(())
}

/// What a statement looks like in a history: one event for each record that it touched.
fn events(store: &str, command: &Command, reply: &Reply) -> Vec<Event> {
    if let Reply::Swept { released, unknown, expired, forgotten } = reply {
        let swept = |slots: &[Slot], what: &str, state| {
            slots.iter().map(|slot| store_event(store, "sweep", slot, what, state)).collect::<Vec<_>>()
        };
        return [
            swept(released, "released", None),
            swept(unknown, "unknown", Some(State::Unknown)),
            swept(expired, "expired", Some(State::Tombstone)),
            swept(forgotten, "forgotten", None),
        ]
        .concat();
    }
    let (name, slot) = match (command, reply) {
        (Command::BeginAsk { .. }, Reply::Ask { slot, .. }) => ("begin-ask", slot),
        (Command::BeginQuery { .. }, Reply::Query { slot, .. }) => ("begin-query", slot),
        _ => match (command_name(command), command.slot()) {
            (name, Some(slot)) => (name, slot),
            _ => return Vec::new(),
        },
    };
    let mut event = store_event(store, name, slot, reply_name(reply), state_after(command, reply));
    if let Event::Store { token, granted, reference, .. } = &mut event {
        *token = command.token();
        *granted = granted_by(command, reply);
        *reference = command.reference().map(str::to_owned);
    }
    vec![event]
}

fn store_event(store: &str, command: &str, slot: &Slot, reply: &str, state: Option<State>) -> Event {
    Event::Store {
        store: store.into(),
        command: command.into(),
        scope: slot.scope.clone(),
        key: slot.key.clone(),
        token: None,
        granted: None,
        reply: reply.into(),
        state,
        reference: None,
    }
}

/// Whether a transaction changed anything that a later one can see.
fn changes(command: &Command, reply: &Reply) -> bool {
    match reply {
        Reply::Claimed { .. } | Reply::Applied | Reply::Ask { .. } | Reply::Query { .. } => true,
        Reply::Meets { .. } => matches!(command, Command::Fence { .. }),
        Reply::Swept { released, unknown, expired, forgotten } => {
            [released, unknown, expired, forgotten].iter().any(|slots| !slots.is_empty())
        }
        Reply::Mismatch { .. }
        | Reply::Absent
        | Reply::Fenced { .. }
        | Reply::Found { .. }
        | Reply::TooEarly { .. }
        | Reply::Unknowns { .. } => false,
    }
}

fn command_name(command: &Command) -> &'static str {
    match command {
        Command::Claim { .. } => "claim",
        Command::Mark { .. } => "mark",
        Command::Done { .. } => "done",
        Command::Unknown { .. } => "unknown",
        Command::Release { .. } => "release",
        Command::Fence { .. } => "fence",
        Command::Read { .. } => "read",
        Command::BeginAsk { .. } => "begin-ask",
        Command::BeginQuery { .. } => "begin-query",
        Command::ReleaseAsked { .. } => "release-asked",
        Command::AskLater { .. } => "ask-later",
        Command::Sweep { .. } => "sweep",
        Command::Find { .. } => "find",
        Command::Resolve { .. } => "resolve",
        Command::ListUnknown { .. } => "list-unknown",
    }
}

fn reply_name(reply: &Reply) -> &'static str {
    match reply {
        Reply::Claimed { .. } => "claimed",
        Reply::Mismatch { .. } => "mismatch",
        Reply::Meets { .. } => "meets",
        Reply::Absent => "absent",
        Reply::Applied => "applied",
        Reply::Fenced { .. } => "fenced",
        Reply::Ask { .. } => "ask",
        Reply::Query { .. } => "query",
        Reply::Found { .. } => "found",
        Reply::TooEarly { .. } => "too-early",
        Reply::Unknowns { .. } => "unknowns",
        Reply::Swept { .. } => "swept",
    }
}

fn granted_by(command: &Command, reply: &Reply) -> Option<i64> {
    match (command, reply) {
        (_, Reply::Claimed { token }) => Some(*token),
        (Command::Fence { .. }, Reply::Meets { view }) => Some(view.token),
        (_, Reply::Ask { settle_token, .. } | Reply::Query { settle_token, .. }) => Some(*settle_token),
        _ => None,
    }
}

fn state_after(command: &Command, reply: &Reply) -> Option<State> {
    match (command, reply) {
        (_, Reply::Claimed { .. }) => Some(State::Claimed),
        (Command::Mark { .. }, Reply::Applied) => Some(State::Dispatching),
        (Command::Done { .. }, Reply::Applied) => Some(State::Done),
        (Command::Unknown { .. } | Command::AskLater { .. }, Reply::Applied) => Some(State::Unknown),
        (Command::Resolve { word: Word::Sent { .. }, .. }, Reply::Applied) => Some(State::Done),
        (_, Reply::Ask { .. } | Reply::Query { .. } | Reply::TooEarly { .. }) => Some(State::Unknown),
        (_, Reply::Meets { view }) => Some(view.state),
        (_, Reply::Mismatch { state }) => Some(*state),
        (_, Reply::Fenced { view }) => view.as_ref().map(|view| view.state),
        _ => None,
    }
}
