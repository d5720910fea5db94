//! What the headline cases cost in counts, which are the same on every machine: a regression shows here without
//! a clock.

use std::fmt::Write as _;

use onceproof::{
    history::Ability,
    plan::{Plan, Scenario, embedded},
    run::run,
    sim::event::EventEngine,
};

const HEADLINES: [&str; 5] = [
    "first-send",
    "lost-200",
    "concurrent-duplicates-two-gateways",
    "crash-between-send-and-respond-silent",
    "late-retry-after-ttl",
];
const PROFILES: [&str; 2] = ["strict", "zap"];
const SEED: u64 = 1;

fn plan(name: &str, profile: &str) -> Plan {
    let sources = embedded();
    let (_, source) = sources.iter().find(|(known, _)| known == name).expect("the binary has its headlines");
    let scenario = Scenario::parse(name, source).expect("an embedded scenario is well-formed");
    let mut plans = scenario.expand(name, SEED, Some(profile)).into_iter();
    plans.find(|plan| plan.ability() == Ability::Keyed).expect("every headline is played on a keyed provider")
}

#[test]
fn headline_cases_cost_what_they_did() {
    let mut table = format!("{:<40}{:<8}{:>12}{:>9}{:>10}\n", "", "", "iterations", "packets", "messages");
    for name in HEADLINES {
        for profile in PROFILES {
            let cost = run(&plan(name, profile), &EventEngine).expect("the engine plays every headline").cost;
            writeln!(
                table,
                "{name:<40}{profile:<8}{:>12}{:>9}{:>10}",
                cost.iterations, cost.packets, cost.messages
            )
            .expect("text can be written");
        }
    }
    insta::with_settings!({
        snapshot_path => "../../snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
        description => "keyed provider, seed 1",
    }, {
        insta::assert_snapshot!("cost", table);
    });
}
