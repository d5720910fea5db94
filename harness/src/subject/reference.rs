//! The reference gateway of this repository, played by a profile.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::Router;
use onceproof_gateway::{
    gateway::{self, GatewayConfig},
    hint::SharedHint,
    http::{Front, Instance},
    inbound::{Endpoint, Inbound, Scheme, Subscriber},
    metrics::Metrics,
    policy::{Answers, Policy, PolicyError},
    provider::{Ability, ProviderConfig},
    redis_hint::RedisHint,
    spool::Spool,
    store::{RemoteStore, Store},
    world::{BoxFuture, SharedWorld},
};

use tokio::sync::watch;

use super::Subject;
use crate::{
    history::Event,
    mutants::{Planted, Unplanted},
    plan::REPLY,
    sim::{
        actors::{
            database::{InProcessStore, WatchedStore},
            producer::{ACCOUNT_TOKEN, ADMIN_TOKEN, TENANTS, Tenant},
            redis,
            whatsapp::{self, META_SECRET, STANDARD_SECRET, STRIPE_SECRET, VERIFY_TOKEN},
        },
        cast::DATABASE,
        marker,
        stage::Stage,
        wire::{HTTP_PORT, REDIS_PORT, SECOND_STORE_PORT, STORE_PORT},
    },
};

const UNPOISONED: &str = "a panic in a gateway ends the run";

/// Whom every subscriber but the one that answers writes to.
const TOLD: &str = "5511999990099";

/// A profile, and what a plan decides otherwise.
#[derive(Debug, Clone)]
pub struct Policies {
    /// The profile's name.
    pub profile: String,
    /// The plan's policy fields.
    pub fields: toml::Table,
    /// Every period is divided by this.
    pub slower: u32,
}

impl Policies {
    /// The policy with some fields on top.
    ///
    /// # Errors
    /// When the profile is unknown, or a field is none.
    pub fn with(&self, fields: &toml::Table) -> Result<Policy, PolicyError> {
        let mut all = self.fields.clone();
        all.extend(fields.clone());
        Ok(Policy::profile_with(&self.profile, &all)?.scaled_down_by(self.slower))
    }
}

/// The reference gateway under one policy, on as many hosts as a plan has.
pub struct ReferenceGateway {
    policies: Policies,
    ability: Ability,
    /// Whether anything is delivered to it: only then does it have webhooks and workers.
    receives: bool,
    /// Who acts on what is delivered.
    subscribers: Vec<String>,
    /// Whether there is a Redis to ask first.
    has_redis: bool,
    /// Where the shared store listens.
    store_port: u16,
    stage: Arc<Stage>,
    shared: WatchedStore,
    /// Stores in the memory of a process, by host, with its incarnation: a restart begins an empty one.
    in_process: Mutex<BTreeMap<String, (u32, WatchedStore)>>,
    /// What a later release decides otherwise, by host.
    upgrades: Mutex<BTreeMap<String, toml::Table>>,
    /// How the process on each host is told to stop.
    stops: Mutex<BTreeMap<String, watch::Sender<bool>>>,
    /// What the process on each host has counted: a restart begins anew.
    metrics: Mutex<BTreeMap<String, Metrics>>,
    planted: Planted,
}

impl ReferenceGateway {
    /// The gateway under these policies, whose durable records are in `shared`.
    #[must_use]
    pub fn new(policies: Policies, ability: Ability, stage: Arc<Stage>, shared: WatchedStore) -> Self {
        let (in_process, upgrades, stops, metrics) = Default::default();
        let planted = Arc::new(Unplanted);
        Self {
            policies,
            ability,
            receives: false,
            subscribers: Vec::new(),
            has_redis: false,
            store_port: STORE_PORT,
            stage,
            shared,
            in_process,
            upgrades,
            stops,
            metrics,
            planted,
        }
    }

    /// The same with a mistake planted in it.
    #[must_use]
    pub fn planted(self, planted: Planted) -> Self {
        Self { planted, ..self }
    }

    /// The same, with webhooks and workers, and these subscribers of every event.
    #[must_use]
    pub fn receiving(self, receives: bool, subscribers: &[String]) -> Self {
        Self { receives, subscribers: subscribers.to_vec(), ..self }
    }

    /// The same, whose store is beside another on the same host.
    #[must_use]
    pub fn with_store_beside(self) -> Self {
        Self { store_port: SECOND_STORE_PORT, ..self }
    }

    /// The same, with a Redis as a fast hint.
    #[must_use]
    pub fn hinted(self, has_redis: bool) -> Self {
        Self { has_redis, ..self }
    }

    fn inbound(&self, world: &SharedWorld, policy: &Policy) -> Option<Inbound> {
        if !self.receives {
            return None;
        }
        let inbound = Inbound::new(endpoints(&self.subscribers));
        let hint: SharedHint = match self.has_redis {
            true => Arc::new(RedisHint::new(Arc::clone(world), redis::HOST, REDIS_PORT, policy.hint_timeout)),
            false => Arc::clone(&inbound.hint),
        };
        Some(Inbound { hint: self.planted.hint(world, hint), ..inbound })
    }

    fn policy_on(&self, host: &str) -> Policy {
        let upgrades = self.upgrades.lock().expect(UNPOISONED);
        let upgrade = upgrades.get(host).cloned().unwrap_or_default();
        self.policies.with(&upgrade).expect("a plan's policy fields were tried before it was played")
    }

    fn store(&self, host: &str, world: &SharedWorld, policy: &Policy) -> Arc<dyn Store> {
        match policy.answers {
            Answers::Durable => {
                Arc::new(RemoteStore::new(Arc::clone(world), DATABASE, self.store_port, policy.store_timeout))
            }
            Answers::Memory => {
                let mut in_process = self.in_process.lock().expect(UNPOISONED);
                let incarnation = in_process.get(host).map_or(1, |(earlier, _)| earlier + 1);
                let name = format!("{host}/{incarnation}");
                let store =
                    WatchedStore::open(&name, Arc::clone(&self.stage)).expect("SQLite opens in memory");
                in_process.insert(host.into(), (incarnation, store.clone()));
                Arc::new(InProcessStore { store, host: host.into(), world: Arc::clone(world) })
            }
        }
    }
}

fn instance(tenant: &Tenant) -> Instance {
    Instance {
        id: tenant.instance.into(),
        tokens: vec![tenant.token.into(), tenant.rotated_token.into()],
        phone_number_id: tenant.phone_number_id.into(),
    }
}

/// One answers whoever wrote; every other tells somebody else, and its text bears its mark.
fn subscriber(name: &str) -> Subscriber {
    match name {
        REPLY => Subscriber::reply(),
        _ => Subscriber { name: name.into(), to: Some(TOLD.into()), lead: marker::of_subscriber(name) },
    }
}

/// The first tenant answers whatever comes in.
fn endpoints(subscribers: &[String]) -> Vec<Endpoint> {
    let schemes = [
        ("whatsapp", Scheme::Hub, META_SECRET),
        ("stripe", Scheme::Stripe, STRIPE_SECRET),
        ("standard", Scheme::StandardWebhooks, STANDARD_SECRET),
    ];
    let endpoint = |(provider, scheme, secret): (&str, Scheme, &str)| Endpoint {
        provider: provider.into(),
        scheme,
        secret: secret.into(),
        verify_token: Some(VERIFY_TOKEN.into()),
        instance: TENANTS[0].instance.into(),
        subscribers: subscribers.iter().map(|name| subscriber(name)).collect(),
    };
    schemes.map(endpoint).into()
}

impl ReferenceGateway {
    /// The process on one host, with these routes beside its own.
    pub(super) fn process_beside(
        &self,
        host: &str,
        world: SharedWorld,
        routes: Option<Router>,
    ) -> BoxFuture<()> {
        let policy = self.policy_on(host);
        let store = self.planted.store(&world, self.store(host, &world, &policy));
        let inbound = self.inbound(&world, &policy);
        let metrics = Metrics::new();
        self.metrics.lock().expect(UNPOISONED).insert(host.into(), metrics.clone());
        let planted = self.planted.front(&world, &store);
        let config = GatewayConfig {
            policy,
            instances: TENANTS.iter().map(instance).collect(),
            account_token: Some(ACCOUNT_TOKEN.into()),
            spool: Spool::Memory,
            provider: ProviderConfig {
                host: whatsapp::HOST.into(),
                port: HTTP_PORT,
                access_token: "token-of-the-gateway".into(),
                ability: self.ability,
            },
            admin_token: Some(ADMIN_TOKEN.into()),
            inbound,
            metrics,
            front: match routes {
                Some(routes) => Some(beside(routes, planted)),
                None => planted,
            },
            port: HTTP_PORT,
        };
        let (stop, stopping) = watch::channel(false);
        self.stops.lock().expect(UNPOISONED).insert(host.into(), stop);
        Box::pin(async move {
            let listener = world.listen(HTTP_PORT).await.expect("a gateway binds its port");
            gateway::run_until(world, store, config, listener, stopping).await.expect("a gateway accepts");
        })
    }
}

/// These routes beside those of the gateway, behind whatever stands before both. Of two that fit the more exact counts.
fn beside(routes: Router, front: Option<Front>) -> Front {
    Front::new(move |router| {
        let all = routes.clone().merge(router);
        match &front {
            Some(front) => front.before(all),
            None => all,
        }
    })
}

impl Subject for ReferenceGateway {
    fn process(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        self.process_beside(host, world, None)
    }

    fn stop(&self, host: &str) -> bool {
        let stops = self.stops.lock().expect(UNPOISONED);
        stops.get(host).is_some_and(|stop| stop.send(true).is_ok())
    }

    fn upgrade(&self, host: &str, policy: &toml::Table) {
        let mut upgrades = self.upgrades.lock().expect(UNPOISONED);
        upgrades.insert(host.into(), policy.clone());
    }

    fn records(&self, now_ms: u64) -> Vec<Event> {
        let in_process = self.in_process.lock().expect(UNPOISONED);
        let in_memory = in_process.values().flat_map(|(_, store)| store.records(now_ms));
        self.shared.records(now_ms).into_iter().chain(in_memory).collect()
    }

    fn metrics(&self, now_ms: u64) -> Vec<Event> {
        let counted = self.metrics.lock().expect(UNPOISONED);
        let counted = counted.iter().map(|(host, metrics)| (host.clone(), metrics.totals()));
        let told = counted.map(|(of, values)| Event::Metrics { of, values });
        let in_process = self.in_process.lock().expect(UNPOISONED);
        let stores = in_process.values().map(|(_, store)| store).chain([&self.shared]);
        told.chain(stores.map(|store| store.metrics(now_ms))).collect()
    }
}
