//! The headline scenarios: five sends, and webhooks.

use onceproof::{
    history::Ability,
    plan::{self, Plan, Scenario},
    run::{Outcome, run},
    sim::event::EventEngine,
};

use crate::floor::Floor;

/// Sends: one of each kind of trouble, and none.
pub const SENDS: [&str; 5] = [
    "first-send",
    "lost-200",
    "concurrent-duplicates-two-gateways",
    "crash-between-send-and-respond-silent",
    "late-retry-after-ttl",
];

/// Webhooks: without trouble, and one that is delivered twice.
pub const WEBHOOKS: [&str; 2] = ["event-once", "event-after-a-lost-200"];

/// The seed of what is compared: both sides of a ratio do the same in every repetition.
const SEED: u64 = 1;

/// The scenario on `strict` with a keyed provider.
pub fn plan(name: &str, seed: u64) -> Plan {
    let sources = plan::embedded();
    let (_, source) = sources.iter().find(|(known, _)| known == name).expect("the binary has its headlines");
    let scenario = Scenario::parse(name, source).expect("an embedded scenario is well-formed");
    let mut plans = scenario.expand(name, seed, Some("strict")).into_iter();
    plans.find(|plan| plan.ability() == Ability::Keyed).expect("every headline is played on a keyed provider")
}

/// A case: what `onceproof run` does for one cell, the verdict included.
pub fn play(plan: &Plan) -> Outcome {
    run(plan, &EventEngine).expect("the engine plays every headline")
}

/// These scenarios, each with its floor.
pub fn floors(names: &[&str]) -> Vec<Floor> {
    names.iter().map(|name| Floor::of(plan(name, SEED))).collect()
}
