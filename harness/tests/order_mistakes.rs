//! Each mistake in what is ordered is shown in its line, and the help says what was meant.

use onceproof::plan::{PlanError, Scenario};

/// A good file, which each test spoils in one place.
const GOOD: &str = r#"title = "A title"
story = "A story."
rules = ["S12"]

[world]
profiles = ["strict"]
abilities = ["opaque"]
producer = { policy = { zone = "America/Sao_Paulo", again_after = ["5m"] } }

[[step]]
at = "10s"
order = { op = "lembrete-7", to = "5511999990001", text = "Seu plano", keys = "deterministic", template = "RENOV_7D", event_time = "9s" }

[[step]]
at = "20s"
order = { op = "lembrete-7", producer = "producer-2" }

[[step]]
at = "30s"
order = { op = "boas-9", setup = "conta-9", to = "5511999990002", text = "Boas-vindas" }

[[fault]]
when = { point = "after-persist", host = "producer-2" }
crash = "producer-2"
restart = "1s"

[[fault]]
at = "5s"
clock = "producer"
offset = "+1d"

[expect]
effects = { lembrete-7 = 1, boas-9 = 1, conta-9 = 1 }
verdict = "kept"
"#;

#[track_caller]
fn spoil(good: &str, bad: &str, line: &str, message: &str, help: &str) {
    assert_eq!(GOOD.matches(good).count(), 1, "`{good}` stands once in the good file");
    let source = GOOD.replace(good, bad);
    let error: PlanError = Scenario::parse("x.toml", &source).expect_err(bad);
    assert_eq!(error.to_string(), message);
    let number = error.line().expect("a mistake has a place");
    let shown = source.lines().nth(number - 1).unwrap_or_default();
    assert!(shown.contains(line), "shown is: {shown}");
    let meant = error.meant().unwrap_or_default();
    assert!(meant.contains(help), "the help is: {meant}");
}

#[test]
fn the_good_file_is_good_and_is_written_back() {
    let read = Scenario::parse("x.toml", GOOD).expect("good");
    let written = read.to_toml().expect("TOML can hold it");
    assert_eq!(Scenario::parse("x.toml", &written).expect(&written), read);
}

#[test]
fn what_an_order_is() {
    spoil(
        "text = \"Boas-vindas\"",
        "text = \"\"",
        "boas-9",
        "the order `boas-9` has no `text`",
        "who orders it again",
    );
    spoil("op = \"boas-9\"", "op = \"Boas 9\"", "Boas 9", "`Boas 9` cannot name an operation", "lower-case");
    spoil(
        "producer = \"producer-2\" }",
        "producer = \"producer-3\" }",
        "producer-3",
        "unknown producer `producer-3`",
        "did you mean `producer-2`",
    );
    spoil(
        "order = { op = \"boas-9\"",
        "send = { op = \"lembrete-7\", to = \"1\", text = \"x\" }\n\n[[step]]\nat = \"1s\"\norder = { op = \"boas-9\"",
        "order = { op = \"lembrete-7\"",
        "`lembrete-7` is sent and ordered",
        "name the order otherwise",
    );
}

#[test]
fn what_its_keys_are_made_of() {
    spoil("template = \"RENOV_7D\", ", "", "deterministic", "the keys would be about nothing", "add `event`");
    spoil(
        "keys = \"deterministic\"",
        "keys = \"random\"",
        "RENOV_7D",
        "`template` says nothing beside random keys",
        "keys = \"deterministic\"",
    );
    spoil(
        "event_time = \"9s\"",
        "event_time = \"11s\"",
        "event_time",
        "the event happens after it is ordered about",
        "up to 10s",
    );
    spoil("keys = \"deterministic\"", "keys = \"uuid\"", "uuid", "unknown word `uuid`", "`deterministic`");
}

#[test]
fn ordered_again_it_is_the_same() {
    spoil(
        "producer = \"producer-2\" }",
        "template = \"RENOV_6D\" }",
        "RENOV_6D",
        "who orders `lembrete-7` again has another `template`",
        "name another `op`",
    );
    spoil(
        "producer = \"producer-2\" }",
        "setup = \"conta-7\" }",
        "conta-7",
        "who orders `lembrete-7` again has another `setup`",
        "leave `setup` out",
    );
}

#[test]
fn a_set_up_is_an_operation_of_its_own() {
    spoil(
        "setup = \"conta-9\"",
        "setup = \"lembrete-7\"",
        "setup = \"lembrete-7\"",
        "`lembrete-7` is another operation already",
        "a name of its own",
    );
    spoil(
        "setup = \"conta-9\"",
        "setup = \"boas-9\"",
        "setup = \"boas-9\"",
        "`boas-9` is another operation already",
        "a name of its own",
    );
}

#[test]
fn what_a_producer_decides() {
    spoil(
        "again_after = [\"5m\"]",
        "again_afetr = [\"5m\"]",
        "again_afetr",
        "unknown policy field `again_afetr`",
        "did you mean `again_after`",
    );
    spoil(
        "America/Sao_Paulo",
        "America/Atlantis",
        "America/Atlantis",
        "`zone` cannot be so: no time zone is called `America/Atlantis`",
        "as a profile does",
    );
    spoil(
        "again_after = [\"5m\"]",
        "retry = [\"5m\"]",
        "retry",
        "`retry` is no part of `policy` here",
        "write it beside",
    );
}

#[test]
fn a_producer_comes_back() {
    spoil(
        "crash = \"producer-2\"\nrestart = \"1s\"",
        "crash = \"producer-2\"",
        "crash = \"producer-2\"",
        "the second producer never starts again: its steps would never end",
        "add `restart`",
    );
    spoil(
        "[[fault]]\nat = \"5s\"\nclock = \"producer\"\noffset = \"+1d\"",
        "[[step]]\nat = \"9s\"\nsend = { op = \"cart-7\", to = \"1\", text = \"x\" }\n\n[[fault]]\nat = \"5s\"\n\
         crash = \"producer\"\nrestart = \"1s\"",
        "crash = \"producer\"",
        "the producer cannot crash: its steps would never end",
        "where every step of its is an `order`",
    );
}

#[test]
fn a_producer_that_nothing_is_ordered_of_has_no_points_and_no_clock() {
    spoil(
        "order = { op = \"lembrete-7\", producer = \"producer-2\" }",
        "order = { op = \"lembrete-7\" }",
        "host = \"producer-2\"",
        "unknown gateway `producer-2`",
        "producer",
    );
}
