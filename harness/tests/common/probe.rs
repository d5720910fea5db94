//! What a peer sees of a host: `producer` follows a script and takes notes, `gateway-1` echoes what it reads.

use std::{
    future::Future,
    io::ErrorKind,
    sync::{Arc, Mutex},
    time::Duration,
};

use onceproof::{
    history::Entry,
    plan::Scenario,
    sim::{
        action::Change,
        engine::{CannotPlay, Cast, Cost, Engine, Play},
        stage::{BOOT_MS, Stage},
    },
};
use onceproof_gateway::world::{BoxFuture, BoxIo, SharedWorld, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Where `gateway-1` listens.
pub const PORT: u16 = 7000;
const PATIENCE: Duration = Duration::from_millis(90);

/// Who reads this has `gateway-1` reach the point `after-mark` before it echoes.
pub const REACH: &str = "reach";

pub type Notes = Arc<Mutex<Vec<String>>>;
pub type Script = Arc<dyn Fn(Peer) -> BoxFuture<()> + Send + Sync>;

/// A script from an async closure.
pub fn script<F>(script: impl Fn(Peer) -> F + Send + Sync + 'static) -> Script
where
    F: Future<Output = ()> + Send + 'static,
{
    Arc::new(move |peer| Box::pin(script(peer)))
}

/// What was seen when a script was played.
pub struct Seen {
    pub peer: Vec<String>,
    pub echo: Vec<String>,
    pub history: Vec<Entry>,
    pub digest: String,
    pub cost: Cost,
}

/// Plays a script under these faults.
pub fn play_on(engine: &dyn Engine, faults: &str, seed: u64, script: &Script) -> Result<Seen, CannotPlay> {
    let source = format!(
        "title = \"t\"\nstory = \"s\"\nrules = [\"H1\"]\n[world]\nprofiles = [\"strict\"]\nabilities = [\"keyed\"]\n\
         [[step]]\nat = \"0s\"\nsend = {{ op = \"a\", to = \"5511999990001\", text = \"t\" }}\n{faults}\n[expect]\n\
         verdict = \"kept\"\n"
    );
    let mut scenario = Scenario::parse("probe", &source).expect("a good scenario");
    // No plan may crash its producer, whose steps would never end; the database, which does nothing here, stands for it.
    for fault in scenario.faults.iter_mut().filter(|fault| fault.crash.as_deref() == Some("database")) {
        fault.crash = Some("producer".into());
    }
    let stage = Stage::new(&scenario, seed);
    let (seen, heard) = (Notes::default(), Notes::default());
    let probe = Probe {
        stage: Arc::clone(&stage),
        script: Arc::clone(script),
        seen: Arc::clone(&seen),
        heard: Arc::clone(&heard),
        curtain_ms: Mutex::default(),
    };
    let probe = Arc::new(probe);
    let hosts = ["producer", "gateway-1", "whatsapp", "database"].map(String::from).to_vec();
    let cast: Arc<dyn Cast> = Arc::<Probe>::clone(&probe);
    let play = Play { hosts, seed, stage: Arc::clone(&stage), cast, bound_ms: 100 };
    let cost = engine.play(&play)?;
    assert_eq!(*probe.curtain_ms.lock().unwrap(), [cost.simulated_ms], "the curtain falls once, at the end");
    let (history, digest) = stage.close(cost.simulated_ms);
    let take = |notes: &Notes| std::mem::take(&mut *notes.lock().unwrap());
    Ok(Seen { peer: take(&seen), echo: take(&heard), history, digest, cost })
}

struct Probe {
    stage: Arc<Stage>,
    script: Script,
    seen: Notes,
    heard: Notes,
    curtain_ms: Mutex<Vec<u64>>,
}

impl Cast for Probe {
    fn program(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        let (stage, heard) = (Arc::clone(&self.stage), Arc::clone(&self.heard));
        match host {
            "producer" => {
                let script = (self.script)(Peer { world, seen: Arc::clone(&self.seen) });
                Box::pin(async move {
                    script.await;
                    stage.finish();
                })
            }
            "gateway-1" => Box::pin(echo(world, heard)),
            _ => Box::pin(async {}),
        }
    }

    fn change(&self, _change: &Change) {}

    fn curtain(&self, now_ms: u64) {
        self.curtain_ms.lock().unwrap().push(now_ms);
    }
}

async fn echo(world: SharedWorld, heard: Notes) {
    let mut listener = world.listen(PORT).await.expect("the port is free, also after a restart");
    loop {
        let connection = listener.accept().await.expect("a listener goes on");
        let serving = serve(Arc::clone(&world), connection, Arc::clone(&heard));
        world.spawn(Box::pin(serving));
    }
}

async fn serve(world: SharedWorld, mut connection: BoxIo, heard: Notes) {
    let mut buffer = [0; 64];
    while let Ok(read @ 1..) = connection.read(&mut buffer).await {
        let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
        if text == REACH {
            world.reach("after-mark").await;
        }
        heard.lock().unwrap().push(text);
        if connection.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

/// The peer's hands and notebook.
pub struct Peer {
    pub world: SharedWorld,
    pub seen: Notes,
}

impl Peer {
    pub async fn until(&self, ms: u64) {
        let at = Duration::from_millis(BOOT_MS + ms);
        self.world.sleep(at.saturating_sub(self.world.since_boot())).await;
    }

    pub fn note(&self, what: impl Into<String>) {
        self.seen.lock().unwrap().push(what.into());
    }

    pub async fn connect(&self, name: &str) -> Option<BoxIo> {
        let connected = within(&*self.world, PATIENCE, self.world.connect("gateway-1", PORT)).await;
        self.note(match &connected {
            Some(Ok(_)) => format!("{name} connects"),
            Some(Err(error)) => format!("{name} {}", word(error.kind())),
            None => format!("{name} hangs"),
        });
        connected?.ok()
    }

    pub async fn echo(&self, connection: &mut BoxIo, text: &str) {
        if let Err(error) = connection.write_all(text.as_bytes()).await {
            return self.note(format!("{text} write {}", word(error.kind())));
        }
        let mut buffer = [0; 64];
        let read = within(&*self.world, PATIENCE, connection.read(&mut buffer)).await;
        self.note(match read {
            Some(Ok(0)) => format!("{text} end of stream"),
            Some(Ok(read)) => format!("{text} echoed {}", String::from_utf8_lossy(&buffer[..read])),
            Some(Err(error)) => format!("{text} {}", word(error.kind())),
            None => format!("{text} hangs"),
        });
    }
}

fn word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ConnectionRefused => "refused",
        ErrorKind::ConnectionReset => "reset",
        ErrorKind::BrokenPipe => "broken",
        ErrorKind::NotConnected => "not connected",
        _ => "fails otherwise",
    }
}
