//! A case put together here, with a bound or a cast that no plan can name.

use std::sync::Arc;

use onceproof::{
    history::History,
    plan::Plan,
    run::prepare,
    sim::{
        cast::Company,
        engine::{Cast, Cost, Engine, Play},
        event::EventEngine,
    },
    verdict::{self, Verdict},
};

/// Plays a plan, judges it so long after the heal, and says what it cost.
pub fn play(plan: &Plan, bound_ms: u64) -> (Cost, Verdict) {
    let (cost, history) = play_as(plan, Some(bound_ms), |company| Arc::new(company));
    (cost, verdict::judge(&history))
}

/// Plays a plan with its company as `cast` has it.
pub fn play_as(
    plan: &Plan,
    bound_ms: Option<u64>,
    cast: impl FnOnce(Company) -> Arc<dyn Cast>,
) -> (Cost, History) {
    let staged = prepare(plan).expect("every headline can be staged");
    let play = Play {
        hosts: staged.hosts,
        seed: plan.seed(),
        stage: Arc::clone(&staged.stage),
        cast: cast(staged.company),
        bound_ms: bound_ms.unwrap_or(staged.bound_ms),
    };
    let cost = EventEngine.play(&play).expect("the engine plays every headline");
    let (entries, _) = staged.stage.close(cost.simulated_ms);
    (cost, History { header: staged.header, entries })
}
