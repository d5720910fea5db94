//! `strict` under plans that nobody thought of: no promise may break.

use onceproof::{plan::sample::sample, run::run, sim::event::EventEngine};

const CASES: u64 = 600;

#[test]
fn strict_keeps_its_promises_under_sampled_plans() {
    let mut broken = Vec::new();
    for seed in 1..=CASES {
        let mut plan = sample(seed);
        plan.scenario.world.profiles = vec!["strict".into()];
        let outcome = run(&plan, &EventEngine).expect("a sampled plan is playable");
        for judged in outcome.verdict.violated() {
            broken.push(format!("seed {seed}: {}: {}", judged.name, judged.ruling.why()));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
