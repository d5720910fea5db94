//! One run of a plan: played by an engine, written down as a history, judged by every invariant.

use std::{sync::Arc, time::Duration};

use onceproof_gateway::{
    policy::{Policy, PolicyError},
    provider,
};

use crate::{
    history::{self, Ability, Header, History, Promise},
    plan::{Plan, Scenario},
    sim::{
        actors::{database::WatchedStore, whatsapp::Provider},
        cast::{Company, DATABASE},
        engine::{CannotPlay, Cost, Engine, Play},
        stage::Stage,
    },
    subject::{Policies, ReferenceGateway},
    verdict::{self, Verdict},
};

/// Liveness is judged so long after everything is healed.
const BOUND_MS: u64 = 10 * 60 * 1000;

/// How long a provider that takes keys remembers one.
const KEY_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// What happened.
    pub history: History,
    /// What that means.
    pub verdict: Verdict,
    /// One hash over every packet, statement, draw and event.
    pub digest: String,
    /// What it cost.
    pub cost: Cost,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum RunError {
    /// The profile is not known or cannot be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The store cannot be opened.
    #[error("no store to play on: {0}")]
    Store(#[from] onceproof_gateway::store::OpenError),
    /// The engine cannot play the plan.
    #[error(transparent)]
    Engine(#[from] CannotPlay),
}

/// What is not part of a plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Mixes real time into every draw: the planted fault that `determinism` must find.
    pub spoil_chance: bool,
}

/// Plays a plan and judges what happened.
///
/// # Errors
/// When the profile is unknown, or the engine cannot play the plan.
pub fn run(plan: &Plan, engine: &dyn Engine) -> Result<Outcome, RunError> {
    run_with(plan, engine, Options::default())
}

/// As [`run`], with options.
///
/// # Errors
/// As [`run`].
pub fn run_with(plan: &Plan, engine: &dyn Engine, options: Options) -> Result<Outcome, RunError> {
    let slower = plan.scenario.world.shrink_time_by;
    let scenario = Arc::new(plan.scenario.shrunk());
    let policies = Policies { profile: plan.profile().into(), fields: scenario.world.policy.clone(), slower };
    // Tried here, so that no gateway meets a bad field when it starts.
    for upgrade in scenario.faults.iter().filter_map(|fault| fault.upgrade.as_ref()) {
        policies.with(upgrade)?;
    }
    policies.with(&toml::Table::new())?;
    let promise = Policy::profile("strict")?.scaled_down_by(slower);
    let stage = Stage::new(&scenario, plan.seed());
    stage.spoil_chance(options.spoil_chance);
    let company = company(plan, &scenario, policies, &stage)?;
    let play = Play {
        hosts: Company::hosts(&scenario),
        seed: plan.seed(),
        stage: Arc::clone(&stage),
        cast: Arc::new(company),
        bound_ms: BOUND_MS / u64::from(slower),
    };
    let cost = engine.play(&play)?;
    let (entries, digest) = stage.close(cost.simulated_ms);
    let history = History { header: header(plan, &promise), entries };
    let verdict = verdict::judge(&history);
    Ok(Outcome { history, verdict, digest, cost })
}

fn company(
    plan: &Plan,
    scenario: &Arc<Scenario>,
    policies: Policies,
    stage: &Arc<Stage>,
) -> Result<Company, RunError> {
    let store = WatchedStore::open(DATABASE, Arc::clone(stage))?;
    let retention = KEY_RETENTION / plan.scenario.world.shrink_time_by;
    let provider = Provider::new(Arc::clone(stage), plan.ability(), scenario, retention.as_millis() as u64);
    let ability = match plan.ability() {
        Ability::Keyed => provider::Ability::Keyed { retention },
        Ability::Queryable => provider::Ability::Queryable,
        Ability::Opaque => provider::Ability::Opaque,
    };
    let subject = ReferenceGateway::new(policies, ability, Arc::clone(stage), store.clone());
    Ok(Company {
        stage: Arc::clone(stage),
        scenario: Arc::clone(scenario),
        seed: plan.seed(),
        subject: Box::new(subject),
        provider,
        store,
    })
}

fn header(plan: &Plan, promise: &Policy) -> Header {
    Header {
        onceproof_history: history::VERSION,
        title: plan.scenario.title.clone(),
        profile: plan.profile().into(),
        ability: plan.ability(),
        seed: plan.seed(),
        promise: Promise {
            ttl_ms: promise.ttl.as_millis() as u64,
            tombstone_ms: promise.tombstone.as_millis() as u64,
        },
    }
}
