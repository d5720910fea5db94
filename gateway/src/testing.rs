//! A small world for tests of the protocol: paused time, a provider in the same process, a store that can be made to
//! fail. The harness has the real one.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{Router, extract::State, routing::post};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, Uri};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    key::IDEMPOTENCY_KEY,
    store::{Answer, Command, Record, SqliteStore, Store, StoreError, Waiting},
    world::{BoxFuture, BoxIo, Listener, World},
};

/// Time, chance, and holds at points.
pub(crate) struct TestWorld {
    start: Instant,
    /// What sets this host's chance apart, and how often it was drawn from.
    host: u8,
    drawn: AtomicU64,
    provider: Arc<TestProvider>,
    /// How long the next task that reaches a point is held there.
    holds: Mutex<BTreeMap<&'static str, Duration>>,
}

impl TestWorld {
    pub(crate) fn new(host: u8, provider: Arc<TestProvider>) -> Self {
        Self { start: Instant::now(), host, drawn: AtomicU64::new(0), provider, holds: Mutex::default() }
    }

    pub(crate) fn elapsed_secs(&self) -> u64 {
        self.start.elapsed().as_secs()
    }

    pub(crate) fn hold(&self, point: &'static str, duration: Duration) {
        self.holds.lock().unwrap().insert(point, duration);
    }
}

impl World for TestWorld {
    fn clock_ms(&self) -> i64 {
        i64::try_from(self.start.elapsed().as_millis()).unwrap()
    }

    fn since_boot(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<()>) {
        drop(tokio::spawn(task));
    }

    fn connect(&self, _host: &str, _port: u16) -> BoxFuture<io::Result<BoxIo>> {
        if self.provider.behaviour() == Behaviour::Unreachable {
            return Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) });
        }
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let service = TowerToHyperService::new(self.provider.clone().router());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(theirs), service));
        Box::pin(async move { Ok(Box::new(ours) as BoxIo) })
    }

    fn listen(&self, _port: u16) -> BoxFuture<io::Result<Box<dyn Listener>>> {
        Box::pin(async { Err(io::ErrorKind::Unsupported.into()) })
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        let drawn = self.drawn.fetch_add(1, Ordering::SeqCst);
        let draw = [self.host].into_iter().chain(drawn.to_be_bytes());
        for (byte, drawn) in bytes.iter_mut().zip(draw) {
            *byte = drawn;
        }
    }

    fn reach(&self, point: &'static str) -> BoxFuture<()> {
        let held = self.holds.lock().unwrap().remove(point);
        Box::pin(async move {
            if let Some(duration) = held {
                tokio::time::sleep(duration).await;
            }
        })
    }
}

/// What the provider does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Acts, or replays by key.
    Accepts,
    /// Acts, or replays by key, and answers after a while.
    AcceptsAfter(Duration),
    /// Acts, and answers 500.
    ActsThenFails,
    /// Acts, answers 500, and its index never hears of it.
    ActsUnseen,
    /// Answers a definite refusal to a key that it does not know.
    Refuses,
    /// Refuses connections.
    Unreachable,
}

/// Counts effects.
pub(crate) struct TestProvider {
    behaviour: Mutex<Behaviour>,
    ledger: Mutex<Vec<Effect>>,
    queries: AtomicU64,
}

struct Effect {
    id: String,
    /// Where it came as a key.
    key: Option<String>,
    /// Where a query finds it.
    reference: Option<String>,
}

impl TestProvider {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            behaviour: Mutex::new(Behaviour::Accepts),
            ledger: Mutex::default(),
            queries: AtomicU64::new(0),
        })
    }

    pub(crate) fn becomes(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    pub(crate) fn effects(&self) -> usize {
        self.ledger.lock().unwrap().len()
    }

    pub(crate) fn queries(&self) -> u64 {
        self.queries.load(Ordering::SeqCst)
    }

    fn behaviour(&self) -> Behaviour {
        *self.behaviour.lock().unwrap()
    }

    fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/4711/messages", post(take).get(find))
            .route("/instances", post(take))
            .with_state(self)
    }

    fn known(&self, key: Option<&str>) -> Option<String> {
        let ledger = self.ledger.lock().unwrap();
        let effect = ledger.iter().find(|effect| effect.key.is_some() && effect.key.as_deref() == key)?;
        Some(effect.id.clone())
    }

    fn act(&self, key: Option<String>, reference: Option<String>) -> String {
        let mut ledger = self.ledger.lock().unwrap();
        let id = format!("wamid.{}", ledger.len() + 1);
        ledger.push(Effect { id: id.clone(), key, reference });
        id
    }
}

async fn find(State(provider): State<Arc<TestProvider>>, uri: Uri) -> (StatusCode, String) {
    let sought = uri.query().unwrap().strip_prefix("reference=").unwrap();
    provider.queries.fetch_add(1, Ordering::SeqCst);
    let ledger = provider.ledger.lock().unwrap();
    match ledger.iter().find(|effect| effect.reference.as_deref() == Some(sought)) {
        Some(effect) => (StatusCode::OK, json!({ "messages": [{ "id": effect.id }] }).to_string()),
        None => (StatusCode::NOT_FOUND, String::new()),
    }
}

async fn take(
    State(provider): State<Arc<TestProvider>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let content: Value = serde_json::from_slice(&body).unwrap();
    let reference = content["biz_opaque_callback_data"].as_str().map(str::to_owned);
    let key = headers.get(IDEMPOTENCY_KEY).map(|value| value.to_str().unwrap().to_owned());
    let known = provider.known(key.as_deref());
    let behaviour = provider.behaviour();
    let refusal = json!({ "error": { "code": 131_026, "message": "undeliverable" } });
    if behaviour == Behaviour::Refuses && known.is_none() {
        return (StatusCode::BAD_REQUEST, refusal.to_string());
    }
    let seen = reference.filter(|_| behaviour != Behaviour::ActsUnseen);
    let id = known.unwrap_or_else(|| provider.act(key, seen));
    if let Behaviour::AcceptsAfter(pause) = behaviour {
        tokio::time::sleep(pause).await;
    }
    match behaviour {
        Behaviour::ActsThenFails | Behaviour::ActsUnseen => {
            (StatusCode::INTERNAL_SERVER_ERROR, String::new())
        }
        _ => (StatusCode::OK, json!({ "messages": [{ "id": id }] }).to_string()),
    }
}

/// What goes wrong with one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It never leaves.
    Unreached,
    /// It is executed, and its answer is lost.
    AnswerLost,
    /// It is lost on its way.
    CommandLost,
    /// It is executed later than its sender waits.
    Late(Duration),
    /// It is executed, and its answer takes so long.
    AnsweredAfter(Duration),
}

/// A store whose commands fail as scripted: by the command's name, in order.
pub(crate) struct FaultyStore {
    sqlite: Arc<Mutex<SqliteStore>>,
    faults: Mutex<Vec<(&'static str, Fault)>>,
}

impl FaultyStore {
    pub(crate) fn new(faults: &[(&'static str, Fault)]) -> Self {
        Self {
            sqlite: Arc::new(Mutex::new(SqliteStore::in_memory().unwrap())),
            faults: Mutex::new(faults.to_vec()),
        }
    }

    /// The next command of this name fails so.
    pub(crate) fn script(&self, name: &'static str, fault: Fault) {
        self.faults.lock().unwrap().push((name, fault));
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        self.sqlite.lock().unwrap().records().unwrap()
    }

    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        self.sqlite.lock().unwrap().waiting().unwrap()
    }

    fn fault(&self, command: &Command) -> Option<Fault> {
        let command = serde_json::to_value(command).unwrap();
        let mut faults = self.faults.lock().unwrap();
        let index =
            faults.iter().position(|(name, _)| command["command"] == *name || command["step"] == *name)?;
        Some(faults.remove(index).1)
    }
}

impl Store for FaultyStore {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        let fault = self.fault(&command);
        let sqlite = self.sqlite.clone();
        let execute = move || sqlite.lock().unwrap().execute(&command);
        let ambiguous = || Err(StoreError::Ambiguous("no answer".into()));
        Box::pin(async move {
            match fault {
                None => execute(),
                Some(Fault::Unreached) => Err(StoreError::Unreached("refused".into())),
                Some(Fault::AnswerLost) => execute().and_then(|_| ambiguous()),
                Some(Fault::CommandLost) => ambiguous(),
                Some(Fault::AnsweredAfter(delay)) => {
                    let answer = execute();
                    tokio::time::sleep(delay).await;
                    answer
                }
                Some(Fault::Late(delay)) => {
                    tokio::spawn(async move {
                        tokio::time::sleep(delay).await;
                        execute()
                    });
                    ambiguous()
                }
            }
        })
    }
}

/// The body of a request, for handlers that do not look at it.
pub(crate) fn body_of(response: &http::Response<Bytes>) -> serde_json::Value {
    serde_json::from_slice(response.body()).unwrap()
}
