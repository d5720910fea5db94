//! `explain` as a person and a pipeline meet it, on a small share of a matrix.

#[path = "common/command_line.rs"]
#[expect(dead_code, reason = "other tests use the rest of it")]
mod command_line;

use command_line::onceproof;
use serde_json::Value;

const SHARE: [&str; 6] = ["explain", "ietf-gateway", "--workload", "send", "--ability", "keyed"];

fn explain(words: &[&str]) -> command_line::Ran {
    onceproof(&[&SHARE, words].concat())
}

#[test]
fn the_smallest_set_is_found_and_checked() {
    let ran = explain(&["--format", "json"]).exits(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let names = |list: &Value| -> Vec<String> {
        let parts = list.as_array().expect("a list").iter();
        parts.map(|part| part["name"].as_str().expect("a name").to_owned()).collect()
    };
    let mut set = names(&told["set"]);
    set.sort();
    // What text D has that breaks a promise; 409 at once (S4) breaks none.
    assert_eq!(set, ["ambiguous", "store_down", "tombstone"]);
    assert_eq!(names(&told["not_needed"]), ["in_flight_wait"]);
    assert!(told["bad"].as_u64() > Some(0) && told["cured"] == told["bad"], "{told}");
    assert_eq!(told["check"]["played"], told["bad"]);
    for part in told["set"].as_array().expect("a list") {
        assert!(part["in_set"].as_u64() > Some(0), "a decision too many: {part}");
    }
    for check in ["check", "fresh"] {
        assert_eq!(told[check]["bad"], Value::Array(Vec::new()), "{check}");
    }
}

#[test]
fn a_decision_that_is_left_out_fails_the_check() {
    explain(&["--set", "ambiguous,store_down,tombstone"]).exits(0).says("the 3 decisions given cure all");
    let ran = explain(&["--set", "ambiguous,store_down"]).exits(5);
    ran.says(". store_down: \"send-unprotected\" -> \"refuse\"").says("  bad: send/ietf-gateway/keyed/");
}

#[test]
fn what_keeps_every_promise_has_nothing_to_explain() {
    let share = ["explain", "strict", "--workload", "send", "--ability", "keyed"];
    onceproof(&share).exits(0).says("there is nothing to explain");
    let nowhere = ["explain", "meta-redis", "--workload", "send"];
    onceproof(&nowhere).exits(4).says("none of 0 cells");
}

#[test]
fn what_is_not_there_is_named() {
    onceproof(&["explain", "ietf"]).exits(64).complains("there is no profile `ietf`");
    explain(&["--set", "tombstones"]).exits(64).complains("did you mean `tombstone`?");
    onceproof(&["explain", "zap", "--workload", "sends"]).exits(64).complains("there is no workload `sends`");
    let ability = ["explain", "zap", "--workload", "send", "--ability", "key"];
    onceproof(&ability).exits(64).complains("there is no ability `key`");
}
