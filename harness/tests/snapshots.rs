//! What each scenario shows, per profile: the verdict and a history that a reader understands without the code.

use std::fmt::Write as _;

use onceproof::{
    plan::{self, Plan, Scenario},
    report::timeline::timeline,
    run::{Outcome, run},
    sim::event::EventEngine,
};

const SEED: u64 = 1;

#[test]
fn every_scenario_and_profile() {
    for (name, source) in plan::embedded() {
        let scenario = Scenario::parse(&name, &source).expect("an embedded scenario is good");
        for profile in &scenario.world.profiles {
            let plans = scenario.expand(&name, SEED, Some(profile));
            let text = page(&scenario, &plans);
            insta::with_settings!({
                snapshot_path => "../../snapshots",
                prepend_module_to_snapshot => false,
                omit_expression => true,
            }, {
                insta::assert_snapshot!(format!("{name}.{profile}"), text);
            });
        }
    }
}

/// The story, then each ability; an ability or variant whose history reads the same as an earlier one's is named with
/// it. Of several variants the first is told; the others say their verdict.
fn page(scenario: &Scenario, plans: &[Plan]) -> String {
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    let mut abilities = Vec::new();
    for plan in plans {
        let outcome = run(plan, &EventEngine).expect("an embedded scenario is playable");
        let first = !abilities.contains(&plan.ability());
        abilities.push(plan.ability());
        let section = section(plan, &outcome, first);
        match told.iter_mut().find(|(earlier, _)| *earlier == section) {
            Some((_, names)) => names.push(name(plan)),
            None => told.push((section, vec![name(plan)])),
        }
    }
    let mut text = format!("{}\n\n{}\n", scenario.title, scenario.story.trim());
    for (section, names) in told {
        let _ = write!(text, "\n== provider: {}\n{section}", names.join("; "));
    }
    text
}

/// Nobody reads ten thousand rows: of so many, the first and the last are told.
fn readable(timeline: &str) -> String {
    const ROWS_MAX: usize = 2_000;
    const FIRST: usize = 100;
    const LAST: usize = 50;
    let rows: Vec<&str> = timeline.lines().collect();
    if rows.len() <= ROWS_MAX {
        return timeline.to_owned();
    }
    let (first, last) = (&rows[..FIRST], &rows[rows.len() - LAST..]);
    let left_out = format!("⋮ {} rows are left out", rows.len() - FIRST - LAST);
    [first, &[left_out.as_str()], last].concat().join("\n") + "\n"
}

fn name(plan: &Plan) -> String {
    match plan.variant.as_str() {
        "" => plan.ability().name().into(),
        variant => format!("{} ({variant})", plan.ability().name()),
    }
}

fn section(plan: &Plan, outcome: &Outcome, whole: bool) -> String {
    let mut text = format!("verdict: {}\n", outcome.verdict);
    for judged in outcome.verdict.violated() {
        let _ = writeln!(text, "  {}: {}", judged.name, judged.ruling.why());
    }
    if let Some(because) = plan.expectation().because {
        let _ = writeln!(text, "  because {because}");
    }
    if whole {
        let _ = writeln!(text, "\n{}", readable(&timeline(&outcome.history)));
    }
    text
}
