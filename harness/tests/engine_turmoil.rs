//! What a peer sees on `turmoil::Sim`: the same as on our own engine, wherever both can play.
//!
//! Each script is played on both engines, and the notes of both must agree. Who is who says
//! `common/probe.rs`.

#[path = "common/probe.rs"]
mod probe;

use std::{future::Future, sync::Arc, time::Duration};

use onceproof::{
    history::{Entry, Event},
    sim::{
        engine::{CannotPlay, Engine},
        event::EventEngine,
        stage::BOOT_MS,
        turmoil::TurmoilEngine,
    },
};
use onceproof_gateway::world::SharedWorld;
use probe::{Notes, PORT, Peer, Script, Seen, script};

/// How an engine breaks a connection, by an end of stream or by a reset, is its own affair.
const BROKEN: [&str; 6] =
    [" write reset", " write broken", " write not connected", " end of stream", " reset", " not connected"];

fn play_on(engine: &dyn Engine, faults: &str, seed: u64, script: &Script) -> Result<Seen, CannotPlay> {
    let mut seen = probe::play_on(engine, faults, seed, script)?;
    for note in &mut seen.peer {
        if let Some(what) = BROKEN.iter().find_map(|way| note.strip_suffix(way)) {
            *note = format!("{what} broken");
        }
    }
    Ok(seen)
}

fn play<F>(faults: &str, seed: u64, body: impl Fn(Peer) -> F + Send + Sync + 'static) -> Seen
where
    F: Future<Output = ()> + Send + 'static,
{
    play_on(&TurmoilEngine, faults, seed, &script(body)).expect("playable")
}

/// Plays on both engines with several seeds; both must see the same.
fn play_both<F>(faults: &str, body: impl Fn(Peer) -> F + Send + Sync + 'static) -> Seen
where
    F: Future<Output = ()> + Send + 'static,
{
    let script = script(body);
    let play = |engine: &dyn Engine, seed| play_on(engine, faults, seed, &script).expect("playable");
    for seed in 1..20 {
        let (ours, theirs) = (play(&EventEngine, seed), play(&TurmoilEngine, seed));
        assert_eq!(ours.peer, theirs.peer, "seed {seed}");
        assert_eq!(ours.echo, theirs.echo, "seed {seed}");
    }
    play(&TurmoilEngine, 1)
}

#[test]
fn without_faults_everything_is_echoed() {
    let seen = play_both("", |peer| async move {
        let mut first = peer.connect("first").await.expect("connected");
        let mut second = peer.connect("second").await.expect("connected");
        peer.echo(&mut first, "one").await;
        peer.echo(&mut second, "two").await;
        peer.until(5_000).await;
        peer.echo(&mut first, "three").await;
    });
    assert_eq!(seen.echo, ["one", "two", "three"]);
}

#[test]
fn a_silent_death_is_not_heard_and_connecting_hangs() {
    let fault = "[[fault]]\nat = \"100ms\"\ncrash = \"gateway-1\"\nsilent = true\nrestart = \"900ms\"";
    let seen = play_both(fault, |peer| async move {
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
            "three broken",
            "after restart connects",
            "four echoed four"
        ]
    );
    assert_eq!(seen.echo, ["one", "four"]);
    let starts = |entry: &&Entry| matches!(&entry.event, Event::Start { incarnation: 2 });
    let restart = seen.history.iter().find(starts).expect("a restart");
    assert_eq!((restart.host.as_str(), restart.at_ms), ("gateway-1", BOOT_MS + 1000));
}

#[test]
fn a_kill_is_heard_at_once_and_connecting_is_refused() {
    let fault = "[[fault]]\nat = \"100ms\"\ncrash = \"gateway-1\"\nsilent = false\nrestart = \"900ms\"";
    let seen = play_both(fault, |peer| async move {
        let mut old = peer.connect("before").await.expect("connected");
        peer.echo(&mut old, "one").await;
        peer.until(200).await;
        peer.echo(&mut old, "two").await;
        peer.connect("while dead").await;
        peer.until(1200).await;
        let mut new = peer.connect("after restart").await.expect("connected");
        peer.echo(&mut new, "three").await;
    });
    assert_eq!(
        seen.peer,
        [
            "before connects",
            "one echoed one",
            "two broken",
            "while dead refused",
            "after restart connects",
            "three echoed three"
        ]
    );
}

#[test]
fn a_lost_cut_swallows_what_is_sent_and_resets_what_it_tore_when_it_heals() {
    let fault =
        "[[fault]]\nat = \"100ms\"\ncut = \"gateway-1 -> producer\"\nmode = \"lost\"\nheal = \"300ms\"";
    let seen = play_both(fault, |peer| async move {
        let mut torn = peer.connect("before").await.expect("connected");
        let mut whole = peer.connect("before").await.expect("connected");
        peer.until(150).await;
        peer.echo(&mut torn, "one").await;
        peer.until(500).await;
        peer.echo(&mut torn, "two").await;
        peer.echo(&mut whole, "three").await;
    });
    assert_eq!(seen.peer[2..], ["one hangs", "two broken", "three echoed three"]);
    assert_eq!(seen.echo, ["one", "three"]);
}

#[test]
fn what_is_under_way_when_a_cut_strikes_tears_its_connection_too() {
    let fault =
        "[[fault]]\nat = \"100ms\"\ncut = \"gateway-1 -> producer\"\nmode = \"lost\"\nheal = \"300ms\"";
    let mut torn = 0;
    for seed in 1..20 {
        let seen = play(fault, seed, |peer| async move {
            let mut connection = peer.connect("before").await.expect("connected");
            peer.until(97).await;
            peer.echo(&mut connection, "one").await;
            peer.until(500).await;
            peer.echo(&mut connection, "two").await;
        });
        match seen.peer[1..].join(", ").as_str() {
            "one hangs, two broken" => torn += 1,
            whole => assert_eq!(whole, "one echoed one, two echoed two"),
        }
    }
    assert!((1..19).contains(&torn), "some were under way: {torn}");
}

#[test]
fn connecting_through_a_cut_back_hangs_and_the_server_acts_on_nothing() {
    let fault =
        "[[fault]]\nat = \"10ms\"\ncut = \"gateway-1 -> producer\"\nmode = \"lost\"\nheal = \"500ms\"";
    let seen = play_both(fault, |peer| async move {
        peer.until(50).await;
        peer.connect("through the cut").await;
        peer.until(700).await;
        let mut after = peer.connect("after it").await.expect("connected");
        peer.echo(&mut after, "one").await;
    });
    assert_eq!(seen.peer, ["through the cut hangs", "after it connects", "one echoed one"]);
}

#[test]
fn a_program_at_a_point_goes_no_further_than_the_fault() {
    for silent in [true, false] {
        let fault = format!(
            "[[fault]]\nwhen = {{ point = \"after-mark\", host = \"gateway-1\" }}\ncrash = \"gateway-1\"\n\
             silent = {silent}\nrestart = \"1s\""
        );
        let seen = play_both(&fault, |peer| async move {
            let mut old = peer.connect("before").await.expect("connected");
            peer.echo(&mut old, "reach").await;
            peer.until(1_500).await;
            let mut new = peer.connect("after restart").await.expect("connected");
            peer.echo(&mut new, "reach").await;
        });
        assert_eq!(seen.echo, ["reach"], "the second time only");
    }
}

/// A destructor that would rather not die.
struct LastWish(SharedWorld, Notes);

impl Drop for LastWish {
    fn drop(&mut self) {
        let (world, seen) = (Arc::clone(&self.0), Arc::clone(&self.1));
        let nap = self.0.sleep(Duration::from_millis(1));
        self.0.spawn(Box::pin(async move {
            nap.await;
            seen.lock().unwrap().push("last wish".into());
            drop(world.connect("gateway-1", PORT).await);
        }));
        self.1.lock().unwrap().push("tried".into());
    }
}

#[test]
fn a_dead_incarnation_spawns_nothing() {
    for silent in [true, false] {
        let fault =
            format!("[[fault]]\nat = \"100ms\"\ncrash = \"database\"\nsilent = {silent}\nrestart = \"1s\"");
        let seen = play(&fault, 1, |peer| async move {
            let born = peer.world.since_boot().as_millis();
            peer.note(format!("born at {born}"));
            if born == 0 {
                let _last_wish = LastWish(Arc::clone(&peer.world), Arc::clone(&peer.seen));
                std::future::pending::<()>().await;
            }
        });
        assert_eq!(seen.peer, ["born at 0", "tried", "born at 1120"]);
    }
}

#[test]
fn timers_are_exact_and_a_day_costs_nothing() {
    let seen = play_both("", |peer| async move {
        for ms in [1, 2, 3, 1_000, 7, 86_400_000, 1, 0, 86_400_000] {
            peer.world.sleep(Duration::from_millis(ms)).await;
            peer.note(peer.world.since_boot().as_millis().to_string());
        }
        let tick = peer.world.sleep(Duration::from_secs(3600));
        let day = peer.world.sleep(Duration::from_secs(86_400));
        futures::future::join(tick, day).await;
        peer.note(peer.world.clock_ms().to_string());
    });
    assert_eq!(seen.peer[5], "86401013");
    assert!(seen.cost.iterations < 120, "{:?}", seen.cost);
}

#[test]
fn a_fault_strikes_on_time_in_the_middle_of_a_quiet_day() {
    let fault = "[[fault]]\nat = \"12h\"\ncrash = \"gateway-1\"\nrestart = \"6h\"";
    let seen = play_both(fault, |peer| async move {
        let mut old = peer.connect("before").await.expect("connected");
        peer.until(86_400_000).await;
        peer.echo(&mut old, "one").await;
        peer.connect("after").await;
    });
    let at = |wanted: fn(&Event) -> bool| {
        let found = seen.history.iter().find(|entry| wanted(&entry.event));
        found.expect("it happened").at_ms - BOOT_MS
    };
    assert_eq!(at(|event| matches!(event, Event::Fault { .. })), 43_200_000);
    assert_eq!(at(|event| matches!(event, Event::Start { incarnation: 2 })), 64_800_000);
    assert!(seen.cost.iterations < 120, "{:?}", seen.cost);
}

#[test]
fn seeds_differ_and_each_repeats_itself() {
    let storm = "[[fault]]\nat = \"100ms\"\ncrash = \"gateway-1\"\nrestart = \"200ms\"\n\
                 [[fault]]\nat = \"150ms\"\ncut = \"producer <-> gateway-1\"\nmode = \"lost\"\nheal = \"300ms\"";
    let digest = |seed| {
        let seen = play(storm, seed, |peer| async move {
            let mut kept = Vec::new();
            for turn in 0..20 {
                peer.until(turn * 50).await;
                let mut lot = [0; 8];
                peer.world.fill_random(&mut lot);
                if let Some(mut connection) = peer.connect("again").await {
                    peer.echo(&mut connection, "text").await;
                    peer.world.reach("after-claim").await;
                    kept.push(connection);
                }
            }
        });
        (seen.digest, seen.peer, seen.cost)
    };
    for seed in 1..40 {
        assert_eq!(digest(seed), digest(seed), "seed {seed}");
    }
    assert_ne!(digest(1).0, digest(2).0);
}

#[test]
fn what_it_cannot_play_it_refuses_by_name() {
    let refusals = [
        (
            "at = \"1s\"\ncut = \"gateway-1 -> producer\"",
            "cuts gateway-1 -> producer, packets held, but turmoil drops",
        ),
        ("at = \"1s\"\nfreeze = \"gateway-1\"", "freezes gateway-1, but turmoil runs every living host"),
        (
            "at = \"1s\"\nrefuse = \"gateway-1\"",
            "refuses connections to gateway-1, but turmoil closes a port",
        ),
        (
            "lose = \"producer -> gateway-1 #2\"",
            "loses message producer -> gateway-1 #2, but turmoil drops by link",
        ),
        (
            "delay = \"producer -> gateway-1 #1\"\nby = \"50ms\"",
            "delays message producer -> gateway-1 #1 by 50ms, but turmoil drops by link",
        ),
        (
            "when = { message = \"gateway-1 -> database #3\" }\ncrash = \"gateway-1\"\nsilent = true",
            "nobody is told when message gateway-1 -> database #3 leaves, but turmoil drops by link",
        ),
    ];
    let never: Script = Arc::new(|_| panic!("nothing starts"));
    for (fault, wanted) in refusals {
        let playable = "[[fault]]\nat = \"1s\"\ncrash = \"gateway-1\"";
        let faults = format!("{playable}\n[[fault]]\n{fault}");
        let refusal = play_on(&TurmoilEngine, &faults, 1, &never).err().expect(fault);
        let text = refusal.to_string();
        assert!(text.contains("fault 2 ") && text.contains(wanted), "{text}");
        assert!(!text.contains("fault 1"), "{text}");
    }
}

#[test]
fn a_run_that_waits_for_what_never_comes_is_told_apart_from_a_long_one() {
    let endless = script(|_| std::future::pending());
    let refusal = play_on(&TurmoilEngine, "", 1, &endless).err().expect("it ends");
    assert!(refusal.to_string().contains("waits for what will never come"), "{refusal}");
}
