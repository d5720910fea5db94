//! `serve`: the gateway on this host's sockets and disk.

use std::sync::Arc;

use onceproof_gateway::{
    gateway::{GatewayConfig, run_until},
    real::TokioWorld,
    redis_hint::RedisHint,
    store::{DiskStore, for_policy},
    world::SharedWorld,
};
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use super::{
    Failure,
    check_config::Report,
    config::{Config, Redis},
};

/// Serves until SIGTERM or SIGINT. Says on stderr what the configuration gives up (M3), and prints the address, so that
/// port 0 can be asked for.
pub fn serve(config: Config) -> Result<(), Failure> {
    let report = Report::of(&config);
    report.refuse()?;
    report.warn();
    let runtime = Runtime::new().map_err(running)?;
    let served = runtime.block_on(serve_on(config));
    // What is still running is as if the host had crashed, which the next life can deal with.
    runtime.shutdown_background();
    served
}

async fn serve_on(config: Config) -> Result<(), Failure> {
    let world = TokioWorld::listening_on(config.listen.ip());
    let policy = &config.gateway.policy;
    let durable = DiskStore::open(world.clone(), &config.store, policy.store_timeout)
        .map_err(|error| Failure::Running(format!("{}: {error}", config.store.display())))?;
    let store = for_policy(policy, Arc::new(durable)).map_err(running)?;
    let listener = world
        .listen(config.listen.port())
        .await
        .map_err(|error| Failure::Running(format!("{}: {error}", config.listen)))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(running)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(running)?;
    println!("listening on http://{}:{}", host(&config), listener.port());
    let (stop, stopping) = watch::channel(false);
    let gateway = hinted(config.gateway, config.redis, &world);
    let mut gateway = tokio::spawn(run_until(world, store, gateway, listener, stopping));
    tokio::select! {
        ended = &mut gateway => return ended.map_err(running)?.map_err(running),
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    stop.send_replace(true);
    gateway.await.map_err(running)?.map_err(running)
}

/// Webhooks that ask a Redis first, if there is one.
fn hinted(mut gateway: GatewayConfig, redis: Option<Redis>, world: &SharedWorld) -> GatewayConfig {
    if let (Some(inbound), Some(redis)) = (&mut gateway.inbound, redis) {
        let timeout = gateway.policy.hint_timeout;
        inbound.hint = Arc::new(RedisHint::new(world.clone(), &redis.host, redis.port, timeout));
    }
    gateway
}

fn host(config: &Config) -> String {
    match config.listen {
        std::net::SocketAddr::V4(address) => address.ip().to_string(),
        std::net::SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

pub(super) fn running(error: impl std::fmt::Display) -> Failure {
    Failure::Running(error.to_string())
}
