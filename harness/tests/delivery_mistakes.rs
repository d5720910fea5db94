//! Each mistake in what is delivered is shown in its line, and the help says what was meant.

use onceproof::plan::{PlanError, Scenario};

/// A good file, which each test spoils in one place.
const GOOD: &str = r#"title = "A title"
story = "A story."
rules = ["W1"]

[world]
profiles = ["strict"]
abilities = ["opaque"]

[[step]]
at = "0s"
send = { op = "cart-7", to = "5511999990001", text = "Seu carrinho" }

[[step]]
at = "1s"
status = { of = "cart-7", status = "delivered" }

[[step]]
at = "2s"
deliver = { op = "oi-1", from = "5511999990002", text = "Oi" }

[[step]]
at = "3s"
deliver = { op = "oi-1", signature = "wrong" }

[[step]]
at = "4s"
deliver = { op = "lote", items = [{ op = "a", from = "5511999990003", text = "um" }, { op = "b", from = "5511999990004", text = "dois", count = 3 }] }

[[step]]
at = "1h"
redrive = { op = "b-2" }

[[fault]]
at = "5s"
freeze = "whatsapp"
thaw = "1s"

[expect]
effects = { oi-1 = 1, a = 1, b-1 = 1 }
answers = { lote = ["200"], cart-7 = ["200", "delivered 200"] }
verdict = "kept"
"#;

#[track_caller]
fn spoil(good: &str, bad: &str, message: &str, help: &str) {
    assert_eq!(GOOD.matches(good).count(), 1, "`{good}` stands once in the good file");
    let source = GOOD.replace(good, bad);
    let error: PlanError = Scenario::parse("x.toml", &source).expect_err(bad);
    assert_eq!(error.to_string(), message);
    assert!(error.line().is_some(), "a mistake has a place");
    let meant = error.meant().unwrap_or_default();
    assert!(meant.contains(help), "the help is: {meant}");
}

#[test]
fn the_good_file_is_good_and_is_written_as_it_was_read() {
    let scenario = Scenario::parse("x.toml", GOOD).expect("good");
    let again = Scenario::parse("x.toml", &scenario.to_toml().expect("TOML")).expect("good");
    assert_eq!(again, scenario);
    let ops: Vec<String> = scenario.event_ops().into_iter().collect();
    assert_eq!(ops, ["a", "b-1", "b-2", "b-3", "oi-1"]);
}

#[test]
fn the_first_step_of_an_event_says_what_it_is() {
    let help = "a redelivery leaves `from` and `text` out";
    spoil(r#", from = "5511999990002", text = "Oi""#, "", "the first step of `oi-1` has no `from`", help);
    spoil(r#", from = "5511999990003", text = "um""#, "", "the first step of `a` has no `from`", help);
}

#[test]
fn a_redelivery_that_bears_something_else() {
    spoil(
        r#"signature = "wrong""#,
        r#"text = "Tchau""#,
        "a redelivery of `oi-1` has another `text`",
        "a redelivery bears the same",
    );
}

#[test]
fn a_name_that_is_sent_too() {
    spoil(
        r#"{ op = "a","#,
        r#"{ op = "cart-7","#,
        "`cart-7` is sent by a producer and cannot be delivered too",
        "a name of its own",
    );
}

#[test]
fn what_contradicts_a_batch() {
    let start = r#"deliver = { op = "lote", "#;
    spoil(
        start,
        &format!("{start}text = \"x\", "),
        "`text` and `items` contradict each other",
        "leave one out",
    );
    spoil(
        start,
        &format!("{start}scheme = \"stripe\", "),
        "this scheme's envelope holds one event",
        "a batch has the scheme `meta`",
    );
}

#[test]
fn a_body_in_which_nothing_can_be_altered() {
    spoil(
        r#"signature = "wrong""#,
        r#"signature = "altered-body", body = "{}""#,
        "there is nothing in this body that could be altered",
        "put the marker `[oi-1]` in it",
    );
}

#[test]
fn too_much_is_refused_before_it_is_made() {
    spoil("count = 3", "count = 4294967295", "`count` is 4294967295", "it may be 1 to 5000");
    spoil("count = 3", "count = 5000", "5001 events are too many", "at most 5000");
    spoil(r#"signature = "wrong""#, "times = 0", "`times` is 0", "it may be 1 to 1000");
    spoil(
        "text = \"um\" }",
        "text = \"um\", entry = 0 }",
        "the number of the entry is 0",
        "it may be 1 to 1000",
    );
}

#[test]
fn names_that_nobody_knows() {
    spoil(r#"of = "cart-7""#, r#"of = "cart-8""#, "unknown operation `cart-8`", "did you mean `cart-7`?");
    spoil(r#"op = "b-2""#, r#"op = "b""#, "unknown event `b`", "`b-1`");
    spoil("b-1 = 1 }", "lote = 1 }", "no step sends `lote`", "`oi-1`");
    spoil("lote = [\"200\"]", "b = [\"200\"]", "no step sends `b`", "`lote`");
    spoil(
        r#"signature = "wrong""#,
        r#"via = ["gateway-9"]"#,
        "unknown gateway `gateway-9`",
        "known here: `gateway-1`",
    );
}

#[test]
fn the_sender_has_to_end_its_steps() {
    spoil(
        "freeze = \"whatsapp\"\nthaw = \"1s\"",
        "crash = \"whatsapp\"",
        "the sender of webhooks cannot crash: its steps would never end",
        "cut = \"whatsapp <-> gateway-1\"",
    );
    spoil(
        "\nthaw = \"1s\"",
        "",
        "the sender of webhooks freezes for good: its steps would never end",
        "add `thaw`",
    );
}

/// A good file for text B's receiver, which each call spoils in one place.
#[track_caller]
fn spoil_for_zap(bad: &str, message: &str, help: &str) {
    let head =
        "title = \"A title\"\nstory = \"A story.\"\nrules = [\"W1\"]\n\n[world]\nprofiles = [\"zap\"]\n";
    let step =
        |step: &str| format!("{head}abilities = [\"opaque\"]\n\n[[step]]\nat = \"0s\"\n{step}\n\n[expect]\n");
    let good = "deliver = { op = \"oi-1\", from = \"5511999990002\", text = \"Oi\" }";
    Scenario::parse("x.toml", &step(good)).expect("a good file");
    let error: PlanError = Scenario::parse("x.toml", &step(bad)).expect_err(bad);
    assert_eq!(error.to_string(), message);
    assert!(error.line().is_some_and(|line| line >= 11), "a mistake has its place");
    let meant = error.meant().unwrap_or_default();
    assert!(meant.contains(help), "the help is: {meant}");
}

#[test]
fn what_text_b_cannot_read() {
    spoil_for_zap(
        r#"deliver = { op = "oi-1", from = "5511999990002", text = "Oi", scheme = "standard" }"#,
        "`zap` cannot read this `scheme`",
        "say `scheme = \"stripe\"`",
    );
    spoil_for_zap(
        r#"deliver = { op = "lote", items = [{ op = "a", from = "5511999990003", text = "um" }] }"#,
        "`zap` cannot read this `items`",
        "with its id at the top",
    );
    spoil_for_zap(
        r#"deliver = { op = "oi-1", body = '{"entry":[]}' }"#,
        "`zap` cannot read this `body`",
        "leave the profile out",
    );
    spoil_for_zap(
        "deliver = { op = \"oi-1\", from = \"5511999990002\", text = \"Oi\" }\n\n[[step]]\nat = \"1s\"\nredrive = { op = \"oi-1\" }",
        "`zap` has no dead letters to bring back",
        "leave the profile out",
    );
}
