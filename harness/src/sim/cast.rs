//! Who plays which host.

use std::{collections::BTreeMap, sync::Arc};

use onceproof_gateway::world::{BoxFuture, SharedWorld};

use super::{
    action::Change,
    actors::{
        database::{self, WatchedStore},
        producer::{Producer, Shop},
        redis::{self, Redis},
        whatsapp::{self, Provider},
    },
    engine::Cast,
    stage::{HARNESS, Stage},
    wire::{SECOND_STORE_PORT, STORE_PORT},
};
use crate::{
    history::Event,
    plan::{PRODUCER, SECOND_PRODUCER, Scenario},
    subject::Subject,
};

/// The host of the shared store.
pub const DATABASE: &str = "database";

/// The hosts around a subject, and the subject.
pub struct Company {
    /// The history and the faults.
    pub stage: Arc<Stage>,
    /// What the producers do.
    pub scenario: Arc<Scenario>,
    /// Seed of the run.
    pub seed: u64,
    /// What is under test.
    pub subject: Box<dyn Subject>,
    /// The provider, whose ledger outlives its host.
    pub provider: Provider,
    /// The database, whose state outlives its host.
    pub store: WatchedStore,
    /// The Redis, whose memory outlives its host.
    pub redis: Redis,
    /// By host: the producers that orders are placed with, whose books outlive their hosts.
    pub shops: BTreeMap<String, Arc<Shop>>,
}

impl Company {
    /// The names of all hosts.
    #[must_use]
    pub fn hosts(scenario: &Scenario) -> Vec<String> {
        let gateways = (1..=scenario.world.gateways).map(|number| format!("gateway-{number}"));
        let others = scenario.producers().into_iter().chain([whatsapp::HOST, DATABASE]).map(String::from);
        let redis = scenario.needs_redis().then(|| redis::HOST.to_owned());
        others.chain(redis).chain(gateways).collect()
    }

    /// What is ordered of a producer; and on the first one, what anybody else does outside of the gateways.
    fn producer(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        let (stage, scenario) = (Arc::clone(&self.stage), Arc::clone(&self.scenario));
        let (seed, shop) = (self.seed, self.shops.get(host).cloned());
        let is_first = host == PRODUCER;
        Box::pin(async move {
            if is_first {
                Producer::new(Arc::clone(&world), stage, scenario, seed).run();
            }
            if let Some(shop) = shop {
                shop.open(world).await;
            }
        })
    }

    /// The shared store, or what the subject has in its place.
    fn database(&self, world: SharedWorld) -> BoxFuture<()> {
        const BINDS: &str = "the database binds its port";
        let (store, own) = (self.store.clone(), self.subject.database().cloned());
        let Some(own) = own else {
            store.start();
            return Box::pin(async move {
                database::serve(DATABASE.into(), world, store, STORE_PORT).await.expect(BINDS);
            });
        };
        if self.subject.has_store_beside() {
            let (world, store) = (Arc::clone(&world), store);
            store.start();
            let served = database::serve(DATABASE.into(), Arc::clone(&world), store, SECOND_STORE_PORT);
            world.spawn(Box::pin(async move { served.await.expect(BINDS) }));
        }
        Box::pin(async move { own.serve(world).await.expect(BINDS) })
    }
}

impl Cast for Company {
    fn program(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        match host {
            PRODUCER | SECOND_PRODUCER => self.producer(host, world),
            whatsapp::HOST => {
                let provider = self.provider.clone();
                Box::pin(async move { provider.serve(world).await.expect("the provider binds its port") })
            }
            DATABASE => self.database(world),
            redis::HOST => {
                let redis = self.redis.clone();
                Box::pin(async move { redis.serve(world).await.expect("Redis binds its port") })
            }
            gateway => self.subject.process(gateway, world),
        }
    }

    fn stop(&self, host: &str) -> bool {
        self.subject.stop(host)
    }

    fn change(&self, change: &Change) {
        match change {
            Change::LoseCommits(commits) => match self.subject.database() {
                Some(database) => database.lose_commits(*commits),
                None => self.store.lose_commits(*commits),
            },
            Change::Redis(loss) => self.redis.lose(loss),
            Change::Upgrade { host, policy } => self.subject.upgrade(host, policy),
        }
    }

    fn curtain(&self, now_ms: u64) {
        self.stage.record(now_ms, HARNESS, Event::Inspected);
        let given_up = self.shops.values().flat_map(|shop| shop.given_up());
        let records = self.subject.records(now_ms).into_iter().chain(given_up);
        for record in records.chain(self.subject.metrics(now_ms)) {
            self.stage.record(now_ms, HARNESS, record);
        }
    }
}
