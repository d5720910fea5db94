//! A case put together here, with a policy or a cast that no plan can name. It does what `run::run` does.

use std::{sync::Arc, time::Duration};

use onceproof::{
    history::{Ability, Header, History, Promise, VERSION},
    plan::Plan,
    sim::{
        actors::{database::WatchedStore, whatsapp::Provider},
        cast::{Company, DATABASE},
        engine::{Cast, Cost, Engine, Play},
        event::EventEngine,
        stage::Stage,
    },
    subject::ReferenceGateway,
    verdict::{self, Verdict},
};
use onceproof_gateway::{policy::Policy, provider};

/// What is not in a plan.
#[derive(Clone)]
pub struct Terms {
    pub policy: Policy,
    /// How long the provider remembers a key.
    pub retention: Duration,
    pub bound: Duration,
}

impl Terms {
    /// As `run::run` has it for `strict`.
    pub fn strict() -> Self {
        let policy = Policy::profile("strict").expect("strict is built in");
        Self { policy, retention: Duration::from_secs(24 * 3600), bound: Duration::from_secs(600) }
    }
}

/// Plays a plan on these terms and judges it.
pub fn play(plan: &Plan, terms: &Terms) -> (Cost, Verdict) {
    let stage = Stage::new(&plan.scenario, plan.seed());
    let cost = play_as(plan, terms, &stage, |company| Arc::new(company));
    let (entries, _) = stage.close(cost.simulated_ms);
    let header = Header {
        onceproof_history: VERSION,
        title: plan.scenario.title.clone(),
        profile: plan.profile().into(),
        ability: plan.ability(),
        seed: plan.seed(),
        promise: Promise {
            ttl_ms: terms.policy.ttl.as_millis() as u64,
            tombstone_ms: terms.policy.tombstone.as_millis() as u64,
        },
    };
    (cost, verdict::judge(&History { header, entries }))
}

/// Plays a plan with its company as `cast` has it.
pub fn play_as(
    plan: &Plan,
    terms: &Terms,
    stage: &Arc<Stage>,
    cast: impl FnOnce(Company) -> Arc<dyn Cast>,
) -> Cost {
    let scenario = Arc::new(plan.scenario.clone());
    let store = WatchedStore::open(DATABASE, Arc::clone(stage)).expect("SQLite opens in memory");
    let retention_ms = terms.retention.as_millis() as u64;
    let provider = Provider::new(Arc::clone(stage), plan.ability(), scenario.answers.clone(), retention_ms);
    let ability = match plan.ability() {
        Ability::Keyed => provider::Ability::Keyed { retention: terms.retention },
        Ability::Opaque => provider::Ability::Opaque,
    };
    let subject = ReferenceGateway::new(terms.policy.clone(), ability, Arc::clone(stage), store.clone());
    let hosts = Company::hosts(&scenario);
    let company = Company {
        stage: Arc::clone(stage),
        scenario,
        seed: plan.seed(),
        subject: Box::new(subject),
        provider,
        store,
    };
    let bound_ms = terms.bound.as_millis() as u64;
    let play = Play { hosts, seed: plan.seed(), stage: Arc::clone(stage), cast: cast(company), bound_ms };
    EventEngine.play(&play).expect("the engine plays every headline")
}
