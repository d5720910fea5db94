//! The gateway's hint, on both, and what it makes of a Redis that fails.

use std::time::Duration;

use onceproof_gateway::redis_hint::{HintError, RedisHint};

use crate::{
    client::{Checked, Place},
    real::Server,
    simulated::Simulated,
};

const TIMEOUT: Duration = Duration::from_millis(300);
const TTL: Duration = Duration::from_millis(500);

fn hint(place: &Place) -> RedisHint {
    // A real one is busy with other tests.
    let timeout = if place.host == "127.0.0.1" { Duration::from_secs(20) } else { TIMEOUT };
    RedisHint::new(place.world.clone(), &place.host, place.port, timeout)
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, found: T) -> Checked {
    if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:?}")) }
}

async fn remembers_for_a_while(place: Place) -> Checked {
    let hint = hint(&place);
    let key = "événement: 1";
    expect("at first", Ok(false), hint.find(key).await)?;
    expect("no time", Ok(()), hint.remember(key, Duration::ZERO).await)?;
    expect("marked for no time", Ok(false), hint.find(key).await)?;
    expect("mark", Ok(()), hint.remember(key, TTL).await)?;
    expect("marked", Ok(true), hint.find(key).await)?;
    expect("another", Ok(false), hint.find("event: 2").await)?;
    expect("again, for longer", Ok(()), hint.remember(key, Duration::from_secs(60)).await)?;
    place.world.sleep(TTL + TTL).await;
    expect("after the first mark's time", Ok(false), hint.find(key).await)?;
    let refused = hint.remember(key, Duration::MAX).await;
    expect("for ever", true, refused.is_err_and(|HintError(why)| why.contains("out of range")))?;
    expect("after a refusal", Ok(false), hint.find(key).await)
}

#[test]
fn a_hint_remembers_for_a_while_on_both() {
    Simulated::default().run(remembers_for_a_while).unwrap();
    Server::start().run(remembers_for_a_while).unwrap();
}

#[test]
fn many_callers_share_one_connection() {
    let asked = Simulated::default().run(|place| async move {
        let hint = hint(&place);
        let keys: Vec<String> = (0..200).map(|number| format!("k{number}")).collect();
        let marked = futures::future::join_all(keys.iter().map(|key| hint.remember(key, TTL))).await;
        let seen = futures::future::join_all(keys.iter().map(|key| hint.find(key))).await;
        expect("marks", true, marked.iter().all(Result::is_ok))?;
        expect("seen", true, seen.iter().all(|seen| *seen == Ok(true)))
    });
    asked.unwrap();
}

/// Asks every 400 ms for four seconds, and notes when there was an answer and how long it took.
async fn asked_steadily(place: Place) -> Checked<Vec<(u128, bool)>> {
    let hint = hint(&place);
    let mut answers = Vec::new();
    for number in 1..=10 {
        let at = Duration::from_millis(100 + number * 400);
        place.world.sleep(at.saturating_sub(place.world.since_boot())).await;
        let began = place.world.since_boot();
        let answer = hint.find("k").await;
        let took = place.world.since_boot() - began;
        if took > TIMEOUT {
            return Err(format!("an answer took {took:?}"));
        }
        answers.push((at.as_millis(), answer.is_ok()));
    }
    Ok(answers)
}

fn unanswered(faults: &'static str) -> Vec<u128> {
    let simulated = Simulated { faults, ..Simulated::default() };
    let answers = simulated.run(asked_steadily).unwrap();
    answers.into_iter().filter(|(_, answered)| !answered).map(|(at, _)| at).collect()
}

#[test]
fn a_redis_that_hangs_costs_the_timeout_until_it_goes_on() {
    assert_eq!(unanswered("[[fault]]\nat = \"1s\"\nfreeze = \"database\"\nthaw = \"1s\""), [1300, 1700]);
}

#[test]
fn a_redis_that_died_is_connected_to_anew() {
    let crash = "[[fault]]\nat = \"1s\"\ncrash = \"database\"\nrestart = \"1s\"";
    assert_eq!(unanswered(crash), [1300, 1700]);
    let power_loss = "[[fault]]\nat = \"1s\"\ncrash = \"database\"\nsilent = true\nrestart = \"1s\"";
    assert_eq!(unanswered(power_loss), [1300, 1700]);
}

#[test]
fn one_lost_command_or_reply_costs_one_hint() {
    assert_eq!(unanswered("[[fault]]\nlose = \"producer -> database #3\""), [1300]);
    assert_eq!(unanswered("[[fault]]\nlose = \"database -> producer #4\""), [1700]);
}
