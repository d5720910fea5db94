//! What a peer sees when a host dies, freezes, or is cut off: the ground under every verdict.
//!
//! One row of the design's table each. The peer is `producer`; `gateway-1` echoes what it reads.

use std::{
    future::Future,
    io::ErrorKind,
    sync::{Arc, Mutex},
    time::Duration,
};

use onceproof::{
    history::{Entry, Event},
    plan::Scenario,
    sim::{
        engine::{Cast, Cost, Engine, Play},
        event::EventEngine,
        stage::{BOOT_MS, Stage},
    },
};
use onceproof_gateway::world::{BoxFuture, BoxIo, SharedWorld, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PORT: u16 = 7000;
const PATIENCE: Duration = Duration::from_millis(90);

type Script = Box<dyn Fn(Peer) -> BoxFuture<()> + Send + Sync>;

/// Plays `gateway-1` as an echo and `producer` as a script.
struct Probe {
    stage: Arc<Stage>,
    script: Script,
    seen: Arc<Mutex<Vec<String>>>,
    heard: Arc<Mutex<Vec<String>>>,
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

    fn change(&self, _change: &onceproof::sim::action::Change) {}

    fn curtain(&self, _now_ms: u64) {}
}

async fn echo(world: SharedWorld, heard: Arc<Mutex<Vec<String>>>) {
    let mut listener = world.listen(PORT).await.expect("the port is free, also after a restart");
    loop {
        let mut connection = listener.accept().await.expect("a listener goes on");
        let heard = Arc::clone(&heard);
        world.spawn(Box::pin(async move {
            let mut buffer = [0; 64];
            while let Ok(read @ 1..) = connection.read(&mut buffer).await {
                heard.lock().unwrap().push(String::from_utf8_lossy(&buffer[..read]).into());
                if connection.write_all(&buffer[..read]).await.is_err() {
                    return;
                }
            }
        }));
    }
}

/// The peer's hands and notebook.
struct Peer {
    world: SharedWorld,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    async fn until(&self, ms: u64) {
        let at = Duration::from_millis(BOOT_MS + ms);
        self.world.sleep(at.saturating_sub(self.world.since_boot())).await;
    }

    fn note(&self, what: impl Into<String>) {
        self.seen.lock().unwrap().push(what.into());
    }

    async fn connect(&self, name: &str) -> Option<BoxIo> {
        let connected = within(&*self.world, PATIENCE, self.world.connect("gateway-1", PORT)).await;
        self.note(match &connected {
            Some(Ok(_)) => format!("{name} connects"),
            Some(Err(error)) => format!("{name} {}", word(error.kind())),
            None => format!("{name} hangs"),
        });
        connected?.ok()
    }

    async fn echo(&self, connection: &mut BoxIo, text: &str) {
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

struct Seen {
    peer: Vec<String>,
    echo: Vec<String>,
    history: Vec<Entry>,
    digest: String,
    cost: Cost,
}

fn play<F>(faults: &str, seed: u64, script: impl Fn(Peer) -> F + Send + Sync + 'static) -> Seen
where
    F: Future<Output = ()> + Send + 'static,
{
    let source = format!(
        "title = \"t\"\nstory = \"s\"\nrules = [\"H1\"]\n[world]\nprofiles = [\"strict\"]\nabilities = [\"keyed\"]\n\
         [[step]]\nat = \"0s\"\nsend = {{ op = \"a\", to = \"5511999990001\", text = \"t\" }}\n{faults}\n[expect]\n\
         verdict = \"kept\"\n"
    );
    let scenario = Scenario::parse("probe", &source).expect("a good scenario");
    let stage = Stage::new(&scenario, seed);
    let (seen, heard) = (Arc::default(), Arc::default());
    let probe = Probe {
        stage: Arc::clone(&stage),
        script: Box::new(move |peer| Box::pin(script(peer))),
        seen: Arc::clone(&seen),
        heard: Arc::clone(&heard),
    };
    let hosts = ["producer", "gateway-1", "whatsapp", "database"].map(String::from).to_vec();
    let play = Play { hosts, seed, stage: Arc::clone(&stage), cast: Arc::new(probe), bound_ms: 100 };
    let cost = EventEngine.play(&play).expect("playable");
    let (history, digest) = stage.close(cost.simulated_ms);
    let take = |notes: &Arc<Mutex<Vec<String>>>| notes.lock().unwrap().clone();
    Seen { peer: take(&seen), echo: take(&heard), history, digest, cost }
}

#[test]
fn a_silent_death_is_not_heard_and_connecting_hangs() {
    let fault = "[[fault]]\nat = \"100ms\"\ncrash = \"gateway-1\"\nsilent = true\nrestart = \"900ms\"";
    let seen = play(fault, 1, |peer| async move {
        let mut old = peer.connect("before").await.expect("connected");
        peer.echo(&mut old, "one").await;
        peer.until(200).await;
        peer.echo(&mut old, "two").await;
        peer.connect("while dead").await;
        peer.until(1200).await;
        peer.echo(&mut old, "three").await;
        let mut new = peer.connect("after restart").await.expect("connected");
        peer.echo(&mut new, "four").await;
    });
    assert_eq!(
        seen.peer,
        [
            "before connects",
            "one echoed one",
            "two hangs",
            "while dead hangs",
            "three reset",
            "after restart connects",
            "four echoed four"
        ]
    );
    assert_eq!(seen.echo, ["one", "four"]);
}

#[test]
fn a_kill_is_heard_at_once_and_connecting_is_refused() {
    let fault = "[[fault]]\nat = \"100ms\"\ncrash = \"gateway-1\"\nsilent = false\nrestart = \"900ms\"";
    let seen = play(fault, 1, |peer| async move {
        let mut old = peer.connect("before").await.expect("connected");
        peer.echo(&mut old, "one").await;
        peer.until(200).await;
        peer.echo(&mut old, "two").await;
        peer.connect("while dead").await;
        peer.until(1200).await;
        let mut new = peer.connect("after restart").await.expect("connected");
        peer.echo(&mut new, "three").await;
    });
    assert_eq!(seen.peer[..2], ["before connects", "one echoed one"]);
    assert!(["two end of stream", "two reset"].contains(&seen.peer[2].as_str()), "{:?}", seen.peer);
    assert_eq!(seen.peer[3..], ["while dead refused", "after restart connects", "three echoed three"]);
}

#[test]
fn connecting_through_a_cut_back_hangs_and_the_server_acts_on_nothing() {
    let fault =
        "[[fault]]\nat = \"10ms\"\ncut = \"gateway-1 -> producer\"\nmode = \"lost\"\nheal = \"500ms\"";
    let seen = play(fault, 1, |peer| async move {
        peer.until(50).await;
        peer.connect("through the cut").await;
        peer.until(700).await;
        let mut after = peer.connect("after it").await.expect("connected");
        peer.echo(&mut after, "one").await;
    });
    assert_eq!(seen.peer, ["through the cut hangs", "after it connects", "one echoed one"]);
    assert_eq!(seen.echo, ["one"]);
}

#[test]
fn an_opening_whose_answer_was_lost_does_not_hold_the_port_after_a_restart() {
    let faults = "[[fault]]\nat = \"10ms\"\ncut = \"gateway-1 -> producer\"\nmode = \"lost\"\nheal = \"300ms\"\n\
                  [[fault]]\nat = \"500ms\"\ncrash = \"gateway-1\"\nrestart = \"100ms\"";
    let seen = play(faults, 1, |peer| async move {
        peer.until(50).await;
        peer.connect("through the cut").await;
        peer.until(900).await;
        let mut after = peer.connect("after the restart").await.expect("connected");
        peer.echo(&mut after, "one").await;
    });
    assert_eq!(seen.peer, ["through the cut hangs", "after the restart connects", "one echoed one"]);
}

#[test]
fn a_held_cut_delivers_everything_when_it_heals() {
    let fault = "[[fault]]\nat = \"100ms\"\ncut = \"gateway-1 -> producer\"\nheal = \"300ms\"";
    let seen = play(fault, 1, |peer| async move {
        let mut connection = peer.connect("before").await.expect("connected");
        peer.until(150).await;
        peer.echo(&mut connection, "one").await;
        peer.until(500).await;
        peer.echo(&mut connection, "two").await;
    });
    assert_eq!(seen.peer, ["before connects", "one hangs", "two echoed one"]);
    assert_eq!(seen.echo, ["one", "two"]);
}

#[test]
fn a_lost_cut_resets_what_it_tore_when_it_heals() {
    let fault =
        "[[fault]]\nat = \"100ms\"\ncut = \"gateway-1 -> producer\"\nmode = \"lost\"\nheal = \"300ms\"";
    let seen = play(fault, 1, |peer| async move {
        let mut connection = peer.connect("before").await.expect("connected");
        peer.until(150).await;
        peer.echo(&mut connection, "one").await;
        peer.until(500).await;
        peer.echo(&mut connection, "two").await;
    });
    assert_eq!(seen.peer[..2], ["before connects", "one hangs"]);
    assert!(seen.peer[2] == "two write reset" || seen.peer[2] == "two reset", "{:?}", seen.peer);
    assert_eq!(seen.echo, ["one"]);
}

#[test]
fn a_frozen_host_takes_bytes_and_answers_when_it_thaws() {
    let fault = "[[fault]]\nat = \"100ms\"\nfreeze = \"gateway-1\"\nthaw = \"300ms\"";
    let seen = play(fault, 1, |peer| async move {
        let mut connection = peer.connect("before").await.expect("connected");
        peer.until(150).await;
        peer.echo(&mut connection, "one").await;
        peer.connect("while frozen").await;
        peer.until(500).await;
        peer.echo(&mut connection, "two").await;
    });
    assert_eq!(seen.peer, ["before connects", "one hangs", "while frozen connects", "two echoed one"]);
    assert_eq!(seen.echo, ["one", "two"]);
}

#[test]
fn refused_connections_leave_open_ones_alone() {
    let fault = "[[fault]]\nat = \"100ms\"\nrefuse = \"gateway-1\"\nheal = \"300ms\"";
    let seen = play(fault, 1, |peer| async move {
        let mut connection = peer.connect("before").await.expect("connected");
        peer.until(150).await;
        peer.connect("refusing").await;
        peer.echo(&mut connection, "one").await;
        peer.until(500).await;
        peer.connect("after").await;
    });
    assert_eq!(seen.peer, ["before connects", "refusing refused", "one echoed one", "after connects"]);
}

#[test]
fn exactly_one_message_is_lost_or_late() {
    let lost = play("[[fault]]\nlose = \"producer -> gateway-1 #2\"", 1, |peer| async move {
        let mut first = peer.connect("first").await.expect("connected");
        peer.echo(&mut first, "one").await;
        peer.echo(&mut first, "two").await;
        let mut second = peer.connect("second").await.expect("connected");
        peer.echo(&mut second, "three").await;
    });
    assert_eq!(lost.echo, ["one", "three"]);
    let late = play("[[fault]]\ndelay = \"producer -> gateway-1 #1\"\nby = \"50ms\"", 1, |peer| async move {
        let mut first = peer.connect("first").await.expect("connected");
        let mut second = peer.connect("second").await.expect("connected");
        first.write_all(b"early").await.expect("written");
        peer.until(10).await;
        peer.echo(&mut second, "overtakes").await;
        peer.until(100).await;
    });
    assert_eq!(late.echo, ["overtakes", "early"]);
}

#[test]
fn a_timer_of_a_day_is_exact_and_costs_nothing() {
    let seen = play("", 1, |peer| async move {
        peer.world.sleep(Duration::from_secs(86_400)).await;
        peer.note(peer.world.since_boot().as_millis().to_string());
    });
    assert_eq!(seen.peer, ["86400000"]);
    assert!(seen.cost.iterations < 30, "{:?}", seen.cost);
}

#[test]
fn a_program_at_a_point_goes_no_further_than_the_fault() {
    let freeze = "[[fault]]\nwhen = { point = \"after-mark\", host = \"gateway-1\" }\nfreeze = \"gateway-1\"";
    let seen = play(freeze, 1, |peer| async move {
        peer.world.reach("after-mark").await;
        peer.note("another host's point strikes nothing");
    });
    assert_eq!(seen.peer, ["another host's point strikes nothing"]);
    assert!(matches!(&seen.history.last().unwrap().event, Event::End { idle_faults } if *idle_faults == [1]));
    let cut =
        "[[fault]]\nwhen = { point = \"after-mark\" }\ncut = \"gateway-1 -> producer\"\nmode = \"lost\"";
    let seen = play(cut, 1, |peer| async move {
        let mut connection = peer.connect("before").await.expect("connected");
        peer.world.reach("after-mark").await;
        peer.echo(&mut connection, "one").await;
    });
    assert_eq!(seen.peer, ["before connects", "one hangs"]);
}

#[test]
fn seeds_differ_and_each_repeats_itself() {
    let storm = "[[fault]]\nat = \"100ms\"\ncrash = \"gateway-1\"\nrestart = \"200ms\"\n\
                 [[fault]]\nat = \"150ms\"\ncut = \"producer <-> gateway-1\"\nmode = \"lost\"\nheal = \"100ms\"";
    let digest = |seed| {
        play(storm, seed, |peer| async move {
            for turn in 0..10 {
                peer.until(turn * 50).await;
                if let Some(mut connection) = peer.connect("again").await {
                    peer.echo(&mut connection, "text").await;
                }
            }
        })
        .digest
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}
