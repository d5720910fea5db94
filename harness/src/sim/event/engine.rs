//! One run: a network, a runtime, and the pump between them.

use std::sync::Arc;

use turmoil_net::{KernelConfig, Net};

use super::{hosts::Hosts, pump::Pump};
use crate::sim::{
    chance::Chance,
    engine::{CannotPlay, Cost, Engine, Play},
};

/// Plays a run on `turmoil-net`, driven by events.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventEngine;

impl Engine for EventEngine {
    fn play(&self, play: &Play) -> Result<Cost, CannotPlay> {
        let runtime = runtime(play.seed)?;
        let mut chance = Chance::new(play.seed, "network");
        let hosts = Hosts::new(Arc::clone(&play.stage));
        let net = network(play, &hosts, &mut chance);
        let cost = runtime.block_on(async { Pump::new(play, &net, Arc::clone(&hosts), chance).run().await });
        // Sockets close into the network while there still is one.
        for host in 0..hosts.len() {
            hosts.kill(host);
        }
        drop(runtime);
        Ok(cost)
    }
}

/// Loss is modelled as packets held or dropped by a fault, so the stack itself never sends a segment again.
const NEVER_RETRANSMIT: u32 = u32::MAX;

fn network(play: &Play, hosts: &Hosts, chance: &mut Chance) -> turmoil_net::EnterGuard {
    let mut names: Vec<&str> = play.hosts.iter().map(String::as_str).collect();
    chance.shuffle(&mut names);
    let mut net = Net::with_config(KernelConfig::default().retx_threshold(NEVER_RETRANSMIT));
    for name in names {
        let id = net.add_host(name);
        hosts.add(name, id, net.lookup(name));
    }
    net.enter()
}

/// A paused runtime on this thread, whose own choices come from the seed.
#[cfg(tokio_unstable)]
fn runtime(seed: u64) -> Result<tokio::runtime::Runtime, CannotPlay> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .rng_seed(tokio::runtime::RngSeed::from_bytes(&seed.to_le_bytes()))
        .unhandled_panic(tokio::runtime::UnhandledPanic::ShutdownRuntime)
        .build()
        .map_err(|error| CannotPlay(format!("no runtime: {error}")))
}

#[cfg(not(tokio_unstable))]
fn runtime(_seed: u64) -> Result<tokio::runtime::Runtime, CannotPlay> {
    Err(CannotPlay::unseeded())
}
