//! Each mistake in what Redis loses is shown in its line, and the help says what was meant.

use onceproof::plan::Scenario;

/// A good file, whose fault each test replaces.
fn file(redis: bool, fault: &str) -> String {
    let redis = if redis { "redis = true\n" } else { "" };
    format!(
        "title = \"A title\"\nstory = \"A story.\"\nrules = [\"W5\"]\n\n[world]\nprofiles = [\"strict\"]\nabilities = \
         [\"opaque\"]\n{redis}\n[[step]]\nat = \"0s\"\ndeliver = {{ op = \"oi-1\", from = \"5511999990002\", text = \"Oi\" \
         }}\n\n[[fault]]\nat = \"1s\"\n{fault}\n\n[expect]\n"
    )
}

#[track_caller]
fn spoil(redis: bool, fault: &str, message: &str, help: &str) {
    let source = file(redis, fault);
    let error = Scenario::parse("x.toml", &source).expect_err(fault);
    assert_eq!(error.to_string(), message);
    let meant = error.meant().unwrap_or_default();
    assert!(meant.contains(help), "the help is: {meant}");
    let line = error.line().expect("a mistake has its place");
    let shown = source.lines().nth(line - 1).unwrap_or_default();
    assert!(fault.lines().any(|said| said == shown), "it is not in `{shown}`");
}

#[test]
fn good_ones_are_taken() {
    let good = [
        "empty = \"redis\"",
        "evict = \"seen:*\"",
        "refuse_writes = \"redis\"\nheal = \"3s\"",
        "lose_last = \"1s\"",
        "fail_over = \"0s\"",
    ];
    for fault in good {
        let scenario = Scenario::parse("x.toml", &file(true, fault)).expect(fault);
        let written = scenario.to_toml().expect("a scenario can be written");
        assert_eq!(Scenario::parse("x.toml", &written).expect("what is written"), scenario);
    }
}

#[test]
fn a_world_without_a_redis() {
    let help = "add `redis = true` to [world]";
    spoil(false, "evict = \"*\"", "there is no Redis that could `evict`", help);
    spoil(false, "lose_last = \"1s\"", "there is no Redis that could `lose_last`", help);
    spoil(false, "fail_over = \"1s\"", "there is no Redis that could `fail_over`", help);
    spoil(false, "refuse_writes = \"redis\"", "unknown store of hints `redis`", "");
}

#[test]
fn what_is_lost_is_something_and_not_too_much() {
    spoil(true, "evict = \"\"", "the pattern fits no key", "write `*` for all keys");
    spoil(true, "lose_last = \"0s\"", "what is lost lasts no time", "at least `1ms`");
    spoil(true, "lose_last = \"61s\"", "61s is further back than is remembered", "it may be up to 1m");
    spoil(true, "fail_over = \"2m\"", "2m is further back than is remembered", "it may be up to 1m");
    spoil(true, "refuse_writes = \"database\"", "unknown store of hints `database`", "`redis`");
}

#[test]
fn details_that_say_nothing() {
    spoil(true, "evict = \"*\"\nheal = \"3s\"", "`heal` says nothing beside `evict`", "`refuse_writes`");
    spoil(
        true,
        "lose_last = \"1s\"\nfail_over = \"1s\"",
        "the fault does two things, `lose_last` and `fail_over`",
        "write a [[fault]] for each",
    );
}
