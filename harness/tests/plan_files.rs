//! Scenario files as they are read, written back, and expanded into plans.

#[path = "common/scenarios.rs"]
mod scenarios;

use std::path::Path;

use onceproof::history::Ability;
use onceproof::plan::{Link, Message, Plan, Scenario, Span, embedded, load_dir};
use scenarios::scenarios;

#[test]
fn every_file_is_embedded_and_every_embedded_file_is_there() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut listed = embedded();
    listed.sort();
    let names = |all: &[(String, String)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let mut loaded = load_dir(&directory).expect("readable");
    loaded.sort();
    assert_eq!(names(&loaded), names(&listed));
    for (loaded, listed) in loaded.iter().zip(&listed) {
        assert_eq!(loaded, listed);
    }
}

#[test]
fn every_scenario_is_written_back_as_it_was_read() {
    for (name, scenario) in &scenarios() {
        let written = scenario.to_toml().expect("TOML can hold it");
        assert_eq!(Scenario::parse(name, &written).expect(&written), *scenario, "{written}");
    }
}

#[test]
fn what_is_written_reads_like_what_a_person_writes() {
    let (name, source) = &embedded()[0];
    let written =
        Scenario::parse(name, source).map(|scenario| scenario.to_toml().unwrap_or_default()).expect(name);
    let producer = "producer = { timeout = \"10s\", retry = [\"1s\", \"2s\", \"4s\"] }\n";
    assert_eq!(written.replace(producer, ""), *source);
}

#[test]
fn every_plan_is_a_file_that_expects_what_the_scenario_expects_of_its_cell() {
    for (name, scenario) in &scenarios() {
        for plan in scenario.expand(name, u64::MAX, None) {
            let written = plan.to_toml().expect("TOML can hold it");
            let read = Plan::parse(name, &written).expect(&written);
            // A plan file is one telling: which of several it was is not part of it.
            assert_eq!(Plan { variant: plan.variant.clone(), ..read.clone() }, plan);
            assert_eq!(read.seed(), u64::MAX);
            assert_eq!(read.expectation(), scenario.expect.of(plan.profile(), plan.ability()));
        }
    }
}

#[test]
fn plans_come_in_the_order_of_the_file_and_only_those_asked_for() {
    let (name, source) = &embedded()[0];
    let scenario = Scenario::parse(name, source).expect(name);
    let cells = |only| {
        let plans = scenario.expand(name, 7, only);
        plans.iter().map(|plan| (plan.profile().to_owned(), plan.ability())).collect::<Vec<_>>()
    };
    let mut expected = Vec::new();
    for profile in ["strict", "zap", "ietf-gateway"] {
        expected.extend([(profile.to_owned(), Ability::Keyed), (profile.to_owned(), Ability::Opaque)]);
    }
    assert_eq!(cells(None), expected);
    assert_eq!(cells(Some("zap")), expected[2..4]);
    assert_eq!(cells(Some("nobody")), []);
}

#[test]
fn an_expectation_inherits_what_it_leaves_out() {
    let source = r#"
title = "t"
story = "s"
rules = ["S2"]
world = { profiles = ["strict", "zap"], abilities = ["keyed", "opaque"] }
step = [
    { at = "0s", send = { op = "a", to = "1", text = "x" } },
    { at = "0s", send = { op = "b", to = "1", text = "x" } },
]

[expect]
effects = { a = 1, b = 1 }
answers = { a = ["200"], b = ["200"] }

[expect.zap]
effects = { b = 2 }
answers = { b = ["504 outcome-unknown", "200"] }
verdict = "violated"
invariants = ["once"]
because = "S10: it forgets"

[expect.zap.opaque]
verdict = "kept"
unknown = 1
"#;
    let scenario = Scenario::parse("x", source).expect("good");
    let written = scenario.to_toml().expect("TOML can hold it");
    assert_eq!(Scenario::parse("x", &written).expect(&written), scenario, "{written}");
    let expect = scenario.expect;
    let answers = expect.of("zap", Ability::Opaque).answers.unwrap_or_default();
    assert_eq!((answers["a"].len(), answers["b"].len()), (1, 2));
    assert_eq!(expect.of("strict", Ability::Keyed).answers, expect.default.answers);
    let effects = |b| Some([("a".to_owned(), 1), ("b".to_owned(), b)].into());

    let strict = expect.of("strict", Ability::Opaque);
    assert_eq!(
        (strict.effects, strict.verdict.as_deref(), strict.unknown),
        (effects(1), Some("kept"), Some(0))
    );
    let keyed = expect.of("zap", Ability::Keyed);
    assert_eq!((keyed.effects, keyed.verdict.as_deref()), (effects(2), Some("violated")));
    assert_eq!(keyed.because.as_deref(), Some("S10: it forgets"));
    let opaque = expect.of("zap", Ability::Opaque);
    assert_eq!(
        (opaque.effects, opaque.verdict.as_deref(), opaque.unknown),
        (effects(2), Some("kept"), Some(1))
    );
    assert_eq!((opaque.because, opaque.invariants), (None, Some(vec![])), "a kept cell needs no reason");
}

#[test]
fn spans_are_written_as_people_write_them() {
    let texts = ["0s", "250ms", "10s", "90s", "5m", "24h", "24h - 1s", "24h + 1s", "30d", "31d + 1s", "400d"];
    for text in texts {
        assert_eq!(text.parse::<Span>().expect(text).to_string(), text);
    }
    assert_eq!("24h - 1s".parse::<Span>().map(Span::ms), Ok(86_399_000));
    assert_eq!("1d".parse::<Span>(), "24h".parse());
    assert_eq!(" 24 h-1s ".parse::<Span>(), "24h - 1s".parse());
}

#[test]
fn every_span_survives_being_written() {
    let mut ms = 1;
    while ms <= Span::MAX.ms() {
        for span in [ms - 1, ms, ms + 1].map(Span::from_ms) {
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
        ms += ms / 97 + 1;
    }
}

#[test]
fn links_and_messages_are_written_as_they_were_read() {
    for text in ["gateway-1 -> producer", "gateway-1 <-> database"] {
        assert_eq!(text.parse::<Link>().expect(text).to_string(), text);
    }
    let text = "gateway-1 -> database #3";
    assert_eq!(text.parse::<Message>().expect(text).to_string(), text);
    assert_eq!("a->b".parse::<Link>(), "a -> b".parse());
    assert_eq!("a<->b".parse::<Link>(), "a <-> b".parse());
}

#[test]
fn nothing_panics_on_a_torn_or_scratched_file() {
    for (name, source) in &embedded() {
        for (end, _) in source.char_indices().step_by(3) {
            let _ = Scenario::parse(name, &source[..end]).map_err(miette::Report::new);
            let scratched = format!("{}-{}", &source[..end], source[end..].get(1..).unwrap_or_default());
            if let Err(error) = Scenario::parse(name, &scratched) {
                let _ = (
                    error.line(),
                    error.underlined().map(str::len),
                    format!("{:?}", miette::Report::new(error.clone())),
                );
            }
        }
    }
}

#[test]
fn a_shrunk_scenario_keeps_its_proportions() {
    let mut all = embedded().into_iter();
    let (_, source) = all.find(|(name, _)| name == "delayed-mark").expect("embedded");
    let slower = source.replace("[world]\n", "[world]\nshrink_time_by = 10\n");
    let shrunk = Scenario::parse("x", &slower).expect("good").shrunk();
    assert_eq!(shrunk.world.shrink_time_by, 1);
    assert_eq!(shrunk.world.producer.timeout.ms(), 1_000);
    assert_eq!(shrunk.world.producer.retry[1].ms(), 3_000);
    assert_eq!(shrunk.faults[0].by.map(Span::ms), Some(5_600));
    assert_eq!(shrunk.faults[3].thaw.map(Span::ms), Some(1_500));
    assert_eq!(shrunk.shrunk(), shrunk);
}

#[test]
fn a_directory_without_scenarios_is_told() {
    let told = |path: &str| load_dir(Path::new(path)).expect_err(path).to_string();
    assert!(told("/no/such/directory").starts_with("cannot read /no/such/directory: "));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    assert_eq!(told(source), format!("there is no scenario in {source}"));
}
