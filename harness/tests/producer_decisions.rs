//! Each decision of a producer that can be taken wrongly can be set in a plan, and each wrong one breaks a promise in some
//! scenario that the right one keeps. Retries and crashes are put where the decision matters.

use onceproof::{
    plan::{Plan, Scenario, embedded},
    run::run,
    sim::event::EventEngine,
};

/// The first plan of `strict` for this scenario, with these fields of its producers' policy.
fn violated(name: &str, variant: &str, fields: &str) -> Vec<&'static str> {
    let sources = embedded();
    let (_, source) = sources.iter().find(|(known, _)| known == name).expect(name);
    let mut scenario = Scenario::parse(name, source).expect("an embedded scenario is good");
    scenario.world.producer.policy.extend(toml::from_str::<toml::Table>(fields).expect(fields));
    let mut plans = scenario.expand(name, 1, Some("strict")).into_iter();
    let plan: Plan = plans.find(|plan| plan.variant == variant).expect("the scenario has this variant");
    let verdict = run(&plan, &EventEngine).expect("it is playable").verdict;
    verdict.violated().map(|judged| judged.name).collect()
}

#[test]
fn every_wrong_decision_is_caught() {
    for (fields, name, variant, caught) in [
        // A new key for each retry.
        ("retry_key = \"new\"", "order-retried-past-the-queue", "", &["once"][..]),
        // A timestamp in the key.
        ("bucket = \"millisecond\"\nbucket_time = \"now\"", "order-cron-runs-twice", "", &["once"]),
        // The key is not written down before its job is queued: a restart draws another.
        ("persisted = \"never\"", "order-producer-crashes-after-the-send", "loud", &["once"]),
        ("persisted = \"never\"", "order-producer-crashes", "before-record, loud", &["once"]),
        // A rule of business is taken for a key.
        ("subject = \"template\"", "order-second-of-the-day", "", &["no-collapse"]),
        ("zone = \"UTC\"", "order-two-days-of-its-zone", "", &["no-collapse"]),
        ("bucket_time = \"now\"", "order-cron-runs-around-midnight", "", &["once"]),
        ("bucket = \"hour\"\nbucket_time = \"now\"", "order-cron-runs-around-midnight", "", &["once"]),
        ("encoding = \"joined\"", "order-parts-with-separators", "", &["no-collapse"]),
        ("encoding = \"joined\"\nworker_key = \"made\"", "order-retried-past-the-queue", "", &["once"]),
        ("failed_step = \"new-key\"", "setup-first-step-is-ambiguous", "", &["once"]),
        ("failed_step = \"new-key\"", "setup-second-step-is-ambiguous", "", &["once"]),
    ] {
        assert_eq!(violated(name, variant, ""), [""; 0], "{name} is kept as it is");
        assert_eq!(violated(name, variant, fields), caught, "{fields}: {name}");
    }
}

#[test]
fn a_decision_that_another_defence_covers_does_no_harm() {
    for (fields, name, variant) in [
        // A deterministic key need not be written down: whoever makes it again makes the same.
        ("persisted = \"never\"", "order-producer-crashes-at-midnight", ""),
        // The worker makes the same key as the caller where there is one encoding.
        ("worker_key = \"made\"", "order-at-two-programs", ""),
        // Nothing had left before the death.
        ("persisted = \"never\"", "order-producer-crashes", "before-attempt, loud"),
    ] {
        assert_eq!(violated(name, variant, fields), [""; 0], "{fields}: {name}");
    }
}
