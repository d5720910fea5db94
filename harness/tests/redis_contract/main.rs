//! One suite on the simulated Redis and on a real one: where the two differ, the simulated one is wrong.

mod client;
mod failures;
mod garbage;
mod hint;
mod random;
mod real;
mod simulated;
mod suite;

/// How many rows of random commands are tried.
const SEEDS: u64 = 25;

use redis::ProtocolVersion::{RESP2, RESP3};

#[test]
fn the_simulated_redis_keeps_the_contract() {
    for protocol in [RESP2, RESP3] {
        simulated::Simulated::default().run(move |place| suite::run(place, protocol)).unwrap();
    }
}

#[test]
fn a_real_redis_keeps_the_contract() {
    let server = real::Server::start();
    for protocol in [RESP2, RESP3] {
        server.run(|place| suite::run(place, protocol)).unwrap();
    }
}

#[test]
fn random_commands_are_answered_alike() {
    let server = real::Server::start();
    for seed in 0..SEEDS {
        for protocol in [RESP2, RESP3] {
            let real = server.run(|place| random::talk(place, protocol, seed)).unwrap();
            let simulated = simulated::Simulated::default()
                .run(move |place| random::talk(place, protocol, seed))
                .unwrap();
            let differ = real.iter().zip(&simulated).position(|(real, simulated)| real != simulated);
            if let Some(at) = differ {
                let before = real[..at].join("\n");
                panic!("seed {seed}: {before}\nreal:      {}\nsimulated: {}", real[at], simulated[at]);
            }
            assert_eq!(simulated.len(), real.len());
        }
    }
}

#[test]
fn garbage_is_answered_alike() {
    let real = real::Server::start().run(garbage::answers).unwrap();
    let simulated = simulated::Simulated::default().run(garbage::answers).unwrap();
    for (real, simulated) in real.iter().zip(&simulated) {
        assert_eq!(simulated, real);
    }
    assert_eq!(simulated.len(), real.len());
}
