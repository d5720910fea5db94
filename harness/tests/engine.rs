//! What a peer sees when a host dies, freezes, or is cut off: the ground under every verdict.
//!
//! One row of the design's table each. Who is who says `common/probe.rs`.

#[path = "common/probe.rs"]
mod probe;

use std::{future::Future, time::Duration};

use onceproof::{history::Event, sim::event::EventEngine};
use probe::{Peer, Seen, play_on, script};
use tokio::io::AsyncWriteExt;

fn play<F>(faults: &str, seed: u64, body: impl Fn(Peer) -> F + Send + Sync + 'static) -> Seen
where
    F: Future<Output = ()> + Send + 'static,
{
    play_on(&EventEngine, faults, seed, &script(body)).expect("playable")
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
