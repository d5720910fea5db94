//! The reference gateway of this repository, played by a profile.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use onceproof_gateway::{
    gateway::{self, GatewayConfig},
    http::Instance,
    policy::{Answers, Policy},
    provider::{Ability, ProviderConfig},
    store::{RemoteStore, Store},
    world::{BoxFuture, SharedWorld},
};

use super::Subject;
use crate::{
    history::Event,
    sim::{
        actors::{
            database::{InProcessStore, WatchedStore},
            producer::{INSTANCE, TOKEN},
            whatsapp,
        },
        stage::Stage,
        wire::{HTTP_PORT, STORE_PORT},
    },
};

/// The reference gateway under one policy, on as many hosts as a plan has.
pub struct ReferenceGateway {
    policy: Policy,
    ability: Ability,
    stage: Arc<Stage>,
    shared: WatchedStore,
    /// Stores in the memory of a process, by host: a restart begins an empty one.
    in_process: Mutex<BTreeMap<String, WatchedStore>>,
}

impl ReferenceGateway {
    /// The gateway under `policy`, whose durable records are in `shared`.
    #[must_use]
    pub fn new(policy: Policy, ability: Ability, stage: Arc<Stage>, shared: WatchedStore) -> Self {
        Self { policy, ability, stage, shared, in_process: Mutex::new(BTreeMap::new()) }
    }

    fn store(&self, host: &str, world: &SharedWorld) -> Arc<dyn Store> {
        match self.policy.answers {
            Answers::Durable => {
                Arc::new(RemoteStore::new(Arc::clone(world), "database", STORE_PORT, self.policy.store_timeout))
            }
            Answers::Memory => {
                let store = WatchedStore::open(Arc::clone(&self.stage)).expect("SQLite opens in memory");
                let mut in_process = self.in_process.lock().expect("a panic in a gateway ends the run");
                in_process.insert(host.into(), store.clone());
                Arc::new(InProcessStore { store, host: host.into(), world: Arc::clone(world) })
            }
        }
    }
}

impl Subject for ReferenceGateway {
    fn process(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        let store = self.store(host, &world);
        let config = GatewayConfig {
            policy: self.policy.clone(),
            instances: vec![Instance {
                id: INSTANCE.into(),
                token: TOKEN.into(),
                phone_number_id: "15550001".into(),
            }],
            provider: ProviderConfig {
                host: whatsapp::HOST.into(),
                port: HTTP_PORT,
                access_token: "token-of-the-gateway".into(),
                ability: self.ability,
            },
            port: HTTP_PORT,
        };
        Box::pin(async move {
            gateway::run(world, store, config).await.expect("a gateway binds its port");
        })
    }

    fn records(&self) -> Vec<Event> {
        match self.policy.answers {
            Answers::Durable => self.shared.records(),
            Answers::Memory => {
                let in_process = self.in_process.lock().expect("a panic in a gateway ends the run");
                in_process.values().flat_map(WatchedStore::records).collect()
            }
        }
    }
}
