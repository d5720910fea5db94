//! A script against the simulated Redis, inside the event engine.

use std::{
    future::Future,
    sync::{Arc, Mutex},
};

use onceproof::{
    plan::Scenario,
    sim::{
        action::Change,
        actors::redis::Redis,
        engine::{Cast, Engine, Play},
        event::EventEngine,
        stage::Stage,
        wire::REDIS_PORT,
    },
};
use onceproof_gateway::world::{BoxFuture, SharedWorld};

use crate::client::{Checked, Place};

/// A run with the Redis on one host and a script on another. Faults know the first as `database`: which hosts a plan
/// may name is not this suite's business.
#[derive(Default)]
pub struct Simulated {
    pub redis: Redis,
    pub faults: &'static str,
}

const SERVER: &str = "database";
const CLIENT: &str = "producer";

type Script<T> = Box<dyn Fn(Place) -> BoxFuture<Checked<T>> + Send + Sync>;

struct Company<T> {
    stage: Arc<Stage>,
    redis: Redis,
    script: Script<T>,
    result: Arc<Mutex<Option<Checked<T>>>>,
}

impl<T: Send + 'static> Cast for Company<T> {
    fn program(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        if host == SERVER {
            let redis = self.redis.clone();
            return Box::pin(async move { redis.serve(world).await.expect("the port is free") });
        }
        let place = Place { world, host: SERVER.into(), port: REDIS_PORT };
        let (script, result, stage) = ((self.script)(place), self.result.clone(), self.stage.clone());
        Box::pin(async move {
            let done = script.await;
            *result.lock().unwrap() = Some(done);
            stage.finish();
        })
    }

    fn change(&self, _change: &Change) {}

    fn curtain(&self, _now_ms: u64) {}
}

impl Simulated {
    pub fn run<T, F>(&self, script: impl Fn(Place) -> F + Send + Sync + 'static) -> Checked<T>
    where
        T: Send + 'static,
        F: Future<Output = Checked<T>> + Send + 'static,
    {
        let source = format!(
            "title = \"t\"\nstory = \"s\"\nrules = [\"W5\"]\n[world]\nprofiles = [\"strict\"]\nabilities = \
             [\"keyed\"]\n[[step]]\nat = \"0s\"\nsend = {{ op = \"a\", to = \"5511999990001\", text = \"t\" }}\n{}\n\
             [expect]\nverdict = \"kept\"\n",
            self.faults
        );
        let scenario = Scenario::parse("contract", &source).expect("a good scenario");
        let stage = Stage::new(&scenario, 1);
        let result = Arc::new(Mutex::new(None));
        let company = Company {
            stage: Arc::clone(&stage),
            redis: self.redis.clone(),
            script: Box::new(move |place| Box::pin(script(place))),
            result: Arc::clone(&result),
        };
        let hosts = [CLIENT, SERVER].map(String::from).to_vec();
        EventEngine
            .play(&Play { hosts, seed: 1, stage, cast: Arc::new(company), bound_ms: 10 })
            .expect("playable");
        result.lock().unwrap().take().expect("the script has ended")
    }
}
