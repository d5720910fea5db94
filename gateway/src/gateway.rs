//! The whole gateway: its routes, its sweeper and its workers on one host.

use std::{io, sync::Arc};

use tokio::sync::watch;

use crate::{
    alarm::Alarm,
    http::{Access, Api, Forms, Front, Instance, Site, serve_site, serve_until},
    inbound::{Inbound, Receiver},
    ledger::{Alarms, Ledger},
    metrics::{Metrics, Surveyor},
    policy::Policy,
    provider::{ProviderConfig, WhatsApp},
    send::{Protocol, Wakeups},
    shutdown::Shutdown,
    spool::Spool,
    store::Store,
    sweeper::Sweeper,
    work::{Foreman, Numbers},
    world::{BoxFuture, Listener, SharedWorld},
};

/// What one gateway is told.
#[derive(Debug, Clone)]
pub struct GatewayConfig {
    /// Its decisions.
    pub policy: Policy,
    /// Whom it serves. Of two with the same id, the last counts.
    pub instances: Vec<Instance>,
    /// The token that creates instances, and sends from those that it created; without one nobody does (S1, S13).
    pub account_token: Option<String>,
    /// Where uploads wait for their last byte (S8).
    pub spool: Spool,
    /// Who delivers the messages.
    pub provider: ProviderConfig,
    /// The operator's bearer token; without one the operator's routes are not there.
    pub admin_token: Option<String>,
    /// The webhooks that it takes, and works on; without them there are no such routes, and no workers.
    pub inbound: Option<Inbound>,
    /// What stands before its routes.
    pub front: Option<Front>,
    /// Where it counts what it does (M1).
    pub metrics: Metrics,
    /// Its port; 0 takes a free one.
    pub port: u16,
}

/// Binds the port, starts the sweeper and the workers, and serves for ever.
///
/// # Errors
/// What binding or accepting says.
pub async fn run(world: SharedWorld, store: Arc<dyn Store>, config: GatewayConfig) -> io::Result<()> {
    let listener = world.listen(config.port).await?;
    run_on(world, store, config, listener).await
}

/// As [`run`], on a port that is bound already, so that the caller knows its number.
///
/// # Errors
/// What accepting says.
pub async fn run_on(
    world: SharedWorld,
    store: Arc<dyn Store>,
    config: GatewayConfig,
    listener: Box<dyn Listener>,
) -> io::Result<()> {
    let (_never, stop) = watch::channel(false);
    run_until(world, store, config, listener, stop).await
}

/// As [`run_on`], until `stop` holds `true`; then takes no more connections and leases no more rows, and returns once every
/// request in hand is answered and every row in hand is written (W7). What takes longer than the policy's `drain` is cut
/// off: its rows are handed back, so that another worker can take them at once, and its sends are what a crash would leave
/// behind. A send whose caller has hung up is not waited for: the next life finds it in the store.
///
/// # Errors
/// What accepting says.
pub async fn run_until(
    world: SharedWorld,
    store: Arc<dyn Store>,
    config: GatewayConfig,
    listener: Box<dyn Listener>,
    stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let shutdown = Shutdown::new(&world, stop.clone(), config.policy.drain);
    let parts = assemble(world.clone(), store, config.policy, config.provider, config.metrics);
    let working = watch::Sender::new(());
    let (until, at_work) = (shutdown.clone(), working.subscribe());
    world.spawn(Box::pin(async move {
        parts.sweeper.run(until).await;
        drop(at_work);
    }));
    let protocol = Arc::new(parts.protocol);
    if config.inbound.is_some() {
        let foreman = Foreman {
            world: world.clone(),
            ledger: protocol.ledger.clone(),
            alarm: parts.work_alarm,
            protocol: protocol.clone(),
            numbers: Numbers::of(&config.instances),
        };
        let (until, at_work) = (shutdown.clone(), working.subscribe());
        world.spawn(Box::pin(async move {
            foreman.run(until).await;
            drop(at_work);
        }));
    }
    let receiver = config.inbound.map(|inbound| {
        let metrics = protocol.metrics.clone();
        Receiver::new(world.clone(), protocol.ledger.clone(), protocol.policy.clone(), metrics, inbound)
    });
    let api = Api {
        surveyor: Surveyor::new(world.clone(), protocol.ledger.clone()),
        protocol,
        access: Access::new(config.instances, config.account_token, config.admin_token),
        forms: Forms::new(config.spool),
        receiver,
    };
    let site = Site::new(api);
    let serve: BoxFuture<io::Result<()>> = match config.front {
        Some(front) => Box::pin(serve_until(world, listener, front.before(site.router()), stop)),
        None => Box::pin(serve_site(world, listener, site, stop)),
    };
    tokio::select! {
        biased;
        served = serve => served?,
        () = shutdown.over() => {}
    }
    working.closed().await;
    Ok(())
}

/// A gateway without its routes.
pub(crate) struct Parts {
    pub(crate) protocol: Protocol,
    pub(crate) sweeper: Sweeper,
    /// What tells the workers that something is due.
    pub(crate) work_alarm: Arc<Alarm>,
}

pub(crate) fn assemble(
    world: SharedWorld,
    store: Arc<dyn Store>,
    policy: Policy,
    provider: ProviderConfig,
    metrics: Metrics,
) -> Parts {
    let policy = Arc::new(policy);
    let alarms = Alarms::default();
    let wakeups = Arc::new(Wakeups::default());
    let provider = Arc::new(WhatsApp::new(world.clone(), provider, &policy));
    let ledger = Ledger::new(world.clone(), store, policy.clone(), alarms.clone(), provider.ability());
    let sweeper = Sweeper {
        world: world.clone(),
        ledger: ledger.clone(),
        policy: policy.clone(),
        provider: provider.clone(),
        wakeups: wakeups.clone(),
        metrics: metrics.clone(),
        alarm: alarms.sweep,
    };
    let protocol = Protocol { world, ledger, policy, provider, wakeups, metrics };
    Parts { protocol, sweeper, work_alarm: alarms.work }
}
