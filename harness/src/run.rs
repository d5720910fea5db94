//! One run of a plan: played by an engine, written down as a history, judged by every invariant.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use onceproof_gateway::{
    policy::{Policy, PolicyError},
    producer::{BookError, ProducerPolicy},
    provider,
};

use crate::{
    history::{self, Ability, Header, History, Promise},
    mutants::{Mutant, Planted, Unplanted},
    plan::{EXPRESS_PG, EXPRESS_PG_PROSE, META_REDIS, Plan, STRICT, Scenario, Step, ZAP},
    sim::{
        actors::{database::WatchedStore, producer::Shop, redis::Redis, whatsapp::Provider},
        cast::{Company, DATABASE},
        engine::{CannotPlay, Cost, Engine, Play},
        stage::Stage,
    },
    subject::{ExpressPg, MetaRedis, Policies, ReferenceGateway, Structures, Subject, Zap, zap},
    verdict::{self, Verdict},
};

/// Liveness is judged so long after everything is healed.
const BOUND_MS: u64 = 10 * 60 * 1000;

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
    /// How many messages each host sent to each other.
    pub messages: BTreeMap<(String, String), u32>,
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
    /// A producer's book cannot be opened.
    #[error(transparent)]
    Book(#[from] BookError),
    /// The engine cannot play the plan.
    #[error(transparent)]
    Engine(#[from] CannotPlay),
}

/// What is not part of a plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// A mistake that is planted in the subject.
    pub mutant: Option<&'static Mutant>,
    /// Mixes real time into every draw: the planted fault that `determinism` must find.
    pub spoil_chance: bool,
    /// What a system without a policy decides otherwise than its text.
    pub structures: Structures,
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
    let staged = prepare_with(plan, options)?;
    staged.stage.spoil_chance(options.spoil_chance);
    let Staged { stage, company, hosts, bound_ms, header } = staged;
    let seed = plan.seed();
    let play = Play { hosts, seed, stage: Arc::clone(&stage), cast: Arc::new(company), bound_ms };
    let cost = engine.play(&play)?;
    let messages = stage.messages();
    let (entries, digest) = stage.close(cost.simulated_ms);
    let history = History { header, entries };
    let verdict = verdict::judge(&history);
    Ok(Outcome { history, verdict, digest, cost, messages })
}

/// Everything that an engine needs to play a plan.
pub struct Staged {
    /// Where faults come from and the history goes.
    pub stage: Arc<Stage>,
    /// Who plays which host.
    pub company: Company,
    /// The names of all hosts.
    pub hosts: Vec<String>,
    /// How long after the heal liveness is judged.
    pub bound_ms: u64,
    /// The first line of the history.
    pub header: Header,
}

/// Sets the stage for a plan.
///
/// # Errors
/// When the profile is unknown, a policy field is none, or SQLite cannot be opened.
pub fn prepare(plan: &Plan) -> Result<Staged, RunError> {
    prepare_with(plan, Options::default())
}

/// As [`prepare`], with options; chance is for the caller to spoil.
///
/// # Errors
/// As [`prepare`].
pub fn prepare_with(plan: &Plan, options: Options) -> Result<Staged, RunError> {
    let planted: Planted = match options.mutant {
        Some(mutant) => (mutant.plant)(),
        None => Arc::new(Unplanted),
    };
    let slower = plan.scenario.world.shrink_time_by;
    let receives_as_zap = plan.profile() == ZAP && plan.scenario.deliveries().next().is_some();
    let scenario = plan.scenario.shrunk();
    let scenario = Arc::new(if receives_as_zap { zap::readable(scenario) } else { scenario });
    let stage = Stage::new(&scenario, plan.seed());
    let store = WatchedStore::open(DATABASE, Arc::clone(&stage))?.planted(Arc::clone(&planted));
    let retention_ms = scenario.world.key_retention.ms();
    let redis = Redis::new();
    let gateway = || gateway_beside(plan, retention_ms, &stage, &store);
    let subject: Box<dyn Subject> = match plan.profile() {
        META_REDIS => {
            let decisions = options.structures.meta_redis;
            Box::new(MetaRedis::new(Arc::clone(&stage), redis.clone(), decisions, gateway()))
        }
        EXPRESS_PG => Box::new(ExpressPg::code(&stage, &redis, options.structures.express_pg, gateway())),
        EXPRESS_PG_PROSE => {
            Box::new(ExpressPg::prose(&stage, &redis, options.structures.express_pg, gateway()))
        }
        _ => {
            let (policies, ability) = (policies(plan, planted.fields())?, ability(plan, retention_ms));
            let gateway = ReferenceGateway::new(policies, ability, Arc::clone(&stage), store.clone());
            let gateway = gateway.planted(Arc::clone(&planted)).hinted(scenario.world.redis);
            let subscribers = &scenario.world.subscribers;
            if receives_as_zap {
                // Of what the provider delivers, only statuses are the gateway's own business.
                let has_statuses = scenario.steps.iter().any(|step| step.status.is_some());
                let gateway = gateway.receiving(has_statuses, subscribers);
                Box::new(Zap::new(Arc::clone(&stage), gateway, redis.clone(), options.structures.zap))
            } else {
                Box::new(gateway.receiving(scenario.steps.iter().any(Step::is_delivery), subscribers))
            }
        }
    };
    let shops = shops(plan, &scenario, &stage, planted.producer_fields())?;
    let provider = Provider::new(Arc::clone(&stage), plan.ability(), &scenario, retention_ms);
    let company = Company {
        stage: Arc::clone(&stage),
        scenario: Arc::clone(&scenario),
        seed: plan.seed(),
        subject,
        provider,
        store,
        redis,
        shops,
    };
    let header = header(plan, &Policy::profile("strict")?.scaled_down_by(slower), retention_ms);
    let bound_ms = BOUND_MS / u64::from(slower);
    Ok(Staged { stage, company, hosts: Company::hosts(&scenario), bound_ms, header })
}

/// The gateway that a system of another build may send through: `strict`, so that nothing else is decided.
fn gateway_beside(
    plan: &Plan,
    retention_ms: u64,
    stage: &Arc<Stage>,
    store: &WatchedStore,
) -> ReferenceGateway {
    let slower = plan.scenario.world.shrink_time_by;
    let policies = Policies { profile: STRICT.into(), fields: toml::Table::new(), slower };
    ReferenceGateway::new(policies, ability(plan, retention_ms), Arc::clone(stage), store.clone())
}

/// The plan's policies, each tried here, so that no gateway meets a bad field when it starts.
fn policies(plan: &Plan, planted: &str) -> Result<Policies, PolicyError> {
    let world = &plan.scenario.world;
    let mut fields = world.policy.clone();
    fields.extend(planted.parse::<toml::Table>()?);
    let policies = Policies { profile: plan.profile().into(), fields, slower: world.shrink_time_by };
    let upgrades = plan.scenario.faults.iter().filter_map(|fault| fault.upgrade.clone());
    for fields in upgrades.chain([toml::Table::new()]) {
        policies.with(&fields)?;
    }
    Ok(policies)
}

/// The producers that something is ordered of.
fn shops(
    plan: &Plan,
    scenario: &Arc<Scenario>,
    stage: &Arc<Stage>,
    planted: &str,
) -> Result<BTreeMap<String, Arc<Shop>>, RunError> {
    let spec = &plan.scenario.world.producer;
    let mut fields = spec.policy.clone();
    fields.extend(planted.parse::<toml::Table>().map_err(PolicyError::from)?);
    let mut policy = ProducerPolicy::profile_with(plan.profile(), &fields)?;
    policy.timeout = Duration::from_millis(spec.timeout.ms());
    policy.retry = spec.retry.iter().map(|pause| Duration::from_millis(pause.ms())).collect();
    let policy = policy.scaled_down_by(plan.scenario.world.shrink_time_by);
    let mut shops = BTreeMap::new();
    for host in scenario.producers() {
        if scenario.orders().any(|order| order.producer == host) {
            let shop = Shop::new(host, policy.clone(), Arc::clone(stage), Arc::clone(scenario))?;
            shops.insert(host.to_owned(), Arc::new(shop));
        }
    }
    Ok(shops)
}

/// What the gateway is told of the provider.
fn ability(plan: &Plan, retention_ms: u64) -> provider::Ability {
    match plan.ability() {
        Ability::Keyed => provider::Ability::Keyed { retention: Duration::from_millis(retention_ms) },
        Ability::Queryable => provider::Ability::Queryable,
        Ability::Echoing => provider::Ability::Echoing,
        Ability::Opaque => provider::Ability::Opaque,
    }
}

fn header(plan: &Plan, promise: &Policy, retention_ms: u64) -> Header {
    Header {
        onceproof_history: history::VERSION,
        title: plan.scenario.title.clone(),
        profile: plan.profile().into(),
        ability: plan.ability(),
        seed: plan.seed(),
        promise: Promise {
            ttl_ms: promise.ttl.as_millis() as u64,
            tombstone_ms: promise.tombstone.as_millis() as u64,
            event_ms: promise.inbox_kept.as_millis() as u64,
        },
        key_retention_ms: (plan.ability() == Ability::Keyed).then_some(retention_ms),
    }
}
