//! The command line as a person and a pipeline meet it: what it prints, what it writes, what it exits with.

#[path = "common/command_line.rs"]
mod command_line;

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use command_line::{ONCEPROOF, files, folder, onceproof, pasted, spoilt};
use serde_json::Value;

const PROFILES: [&str; 6] = ["strict", "zap", "ietf-gateway", "meta-redis", "express-pg", "express-pg-prose"];
const LOUD: &str = "crash-between-send-and-respond-loud";

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn run_plays_everything_and_ends_with_one_table() {
    let ran = onceproof(&["run"]).exits(0);
    let heading =
        ran.stdout.lines().find(|line| line.trim_start().starts_with("scenario ")).expect("a table");
    assert_eq!(heading.split_whitespace().skip(1).collect::<Vec<_>>(), PROFILES);
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    for (path, _) in files(&scenarios).iter().filter(|(path, _)| path.extension() == Some("toml".as_ref())) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let row = ran.stdout.lines().any(|line| line.split_whitespace().next() == Some(&name));
        assert!(row, "{name} has a row in\n{}", ran.stdout);
    }
    assert!(ran.last_line().contains(" as expected, 0 not; "), "{}", ran.last_line());
    assert_eq!(ran.stderr, "");
    ran.says(&format!("\n {LOUD} ")).says_nothing_of("not expected").says_nothing_of("exit code");
}

#[test]
fn what_is_unknown_or_waived_is_listed_in_short() {
    let ran = onceproof(&["run"]).exits(0);
    let (_, listed) = ran.stdout.split_once("\nkept ?n: ").expect("a list");
    assert!(listed.contains("rather than risk a second message"), "which side was given up:\n{listed}");
    let line = |scenario: &str, rest: &str| {
        let found = listed.lines().find(|line| line.trim_start().starts_with(scenario));
        let words: Vec<&str> = found.unwrap_or_default().split_whitespace().skip(1).collect();
        assert_eq!(words.join(" "), rest, "{listed}");
    };
    line(LOUD, "opaque cart-7, key 758bba, went out once (strict, ietf-gateway)");
    line("crash-before-dispatch", "opaque cart-7, key 758bba, never went out (strict, ietf-gateway)");
    line("late-retry-day-32", "keyed past-horizon: once, faithful-replay (strict, zap, ietf-gateway)");
}

#[test]
fn run_takes_a_scenario_and_a_profile() {
    let ran = onceproof(&["run", "lost-200", "--profile", "strict"]).exits(0);
    let row = ran.stdout.lines().find(|line| line.trim_start().starts_with("lost-200")).expect("a row");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["lost-200", "kept"]);
    ran.says("2 cells, 2 as expected, 0 not; ").says_nothing_of("zap").says_nothing_of("first-send");
}

#[test]
fn an_unknown_name_is_refused_with_what_was_meant() {
    let scenario = onceproof(&["run", "lost-20"]).exits(64);
    let scenario = scenario.complains("there is no scenario `lost-20`").complains("did you mean `lost-200`?");
    scenario.complains("\n          concurrent-duplicates-two-gateways\n");
    let profile = onceproof(&["run", "--profile", "strit"]).exits(64);
    let profile = profile.complains("there is no profile `strit`").complains("did you mean `strict`?");
    for known in PROFILES {
        assert!(profile.stderr.contains(known), "{known}");
    }
    let far = onceproof(&["run", "something-else-altogether"]).exits(64).complains("first-send");
    assert!(!far.stderr.contains("did you mean"), "{}", far.stderr);
    for words in [["run", "--no-such-flag"], ["run", "--seed=x"], ["determinism", "--cases=0"]] {
        onceproof(&words).exits(64);
    }
}

#[test]
fn a_folder_of_scenarios_replaces_the_embedded_ones() {
    let mine = spoilt("replaces", "lost", &[]);
    onceproof(&["run", "--scenarios", &mine]).exits(0).says("\n mine ").says_nothing_of("first-send");
    onceproof(&["run", "first-send", "--scenarios", &mine]).exits(64).complains("known are\n          mine");
    let empty = folder("replaces-empty");
    onceproof(&["run", "--scenarios", text(&empty)]).exits(64).complains("there is no scenario in");
    let nowhere = empty.join("nowhere");
    onceproof(&["run", "--scenarios", text(&nowhere)]).exits(64).complains("cannot read");
}

#[test]
fn an_unexpected_breach_of_safety_exits_1_and_is_told_from_evidence_to_repetition() {
    let mine = spoilt("safety", "crash", &[]);
    let ran = onceproof(&["run", "--scenarios", &mine]).exits(1);
    let parts = [
        "── The gateway is killed between send and respond · zap · keyed or opaque provider\n",
        "   NOT EXPECTED: expected kept, found violated once\n",
        "   NOT EXPECTED: did not expect once among the invariants\n",
        "   NOT EXPECTED: expected cart-7 to act once, found 2\n",
        "   once violated: ",
        "  whatsapp  EFFECT 2 of cart-7: the message goes out as wamid.2\n\n",
        "producer  gateway-1  database  whatsapp\n",
        "│         !          │         │         FAULT 1 crashes gateway-1 loudly",
        "   → sends   ← hears",
        "\n   again: ",
        "violated once  ← not expected",
        "not as expected: mine.zap.keyed: expected kept, found violated once; did not expect once among the invariants; expected cart-7 to act once, found 2\n",
        "6 cells, 4 as expected, 2 not; ",
        "exit code 1: safety is violated, and not as expected: mine.zap.keyed, mine.zap.opaque\n",
    ];
    let mut rest = ran.stdout.as_str();
    for part in parts {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("`{part}` comes next in\n{rest}")).1;
    }
    assert_eq!(rest, "");
}

#[test]
fn an_unexpected_breach_of_liveness_exits_2() {
    let mine = spoilt("liveness", "pending", &[]);
    let ran = onceproof(&["run", "--scenarios", &mine]).exits(2).says("completes violated: ");
    assert_eq!(
        ran.last_line(),
        "exit code 2: liveness is violated, and not as expected: mine.ietf-gateway.keyed"
    );
}

#[test]
fn a_case_that_tests_nothing_exits_4() {
    let mine = spoilt("never", "lost", &[("#1\"", "#99\"")]);
    let ran = onceproof(&["run", "--scenarios", &mine, "--profile", "strict"]).exits(4);
    assert_eq!(ran.agains().len(), 1, "also what was not violated is told and can be repeated");
    let ran = ran.says("expected kept, found inconclusive (fault 1 never struck)");
    assert_eq!(
        ran.last_line(),
        "exit code 4: a case did not test what it says: mine.strict.keyed, mine.strict.opaque"
    );
}

#[test]
fn what_an_engine_cannot_play_is_refused_by_name() {
    let mine = spoilt("engine", "lost", &[]);
    let ran = onceproof(&["run", "--scenarios", &mine, "--engine", "turmoil"]).exits(64);
    let ran = ran.complains("cannot play mine.strict.keyed");
    ran.complains("this engine cannot play it: fault 1 loses message producer -> gateway-1 #1");
}

#[test]
fn nothing_to_run_exits_4() {
    let words = ["run", "delayed-mark", "--profile", "zap"];
    let ran = onceproof(&words).exits(4).says("none of these scenarios is for zap");
    assert_eq!(ran.last_line(), "exit code 4: nothing ran");
    let ran = onceproof(&[&words[..], &["--format", "json"]].concat()).exits(4);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&report["exit_code"], &report["cells"]), (&4.into(), &Value::Array(Vec::new())));
}

#[test]
fn an_expected_failure_that_does_not_come_exits_5() {
    let wrong = "[expect]\ninvariants = [\"once\"]\nbecause = \"S10: it forgets\"\n";
    let edits = [("[expect]\n", wrong), ("verdict = \"kept\"", "verdict = \"violated\"")];
    let mine = spoilt("missing", "lost", &edits);
    let ran = onceproof(&["run", "--scenarios", &mine]).exits(5);
    let ran = ran.says("NOT EXPECTED: expected violated, found kept\n");
    assert_eq!(
        ran.last_line(),
        "exit code 5: no promise is broken, but what was expected did not come: \
         mine.strict.keyed, mine.strict.opaque, mine.zap.keyed and 3 more"
    );
}

#[test]
fn safety_outweighs_what_else_is_unexpected() {
    let mine = spoilt("weight", "crash", &[]);
    let never = spoilt("weight-never", "lost", &[("#1\"", "#99\"")]);
    fs::copy(Path::new(&never).join("mine.toml"), Path::new(&mine).join("never.toml")).expect("copied");
    onceproof(&["run", "--scenarios", &mine]).exits(1).says("exit code 1: ");
}

#[test]
fn a_mistake_in_a_scenario_is_shown_with_file_line_and_meaning() {
    let mine = spoilt("mistake", "lost", &[("verdict = \"kept\"", "verdict = \"kpt\"")]);
    let ran = onceproof(&["run", "--scenarios", &mine]).exits(64);
    assert_eq!(ran.stdout, "");
    let ran = ran.complains("unknown verdict `kpt`").complains("did you mean `kept`?");
    ran.complains(&format!("[{mine}/mine.toml:18:11]"));
    let broken = spoilt("mistake-toml", "lost", &[("[world]", "[world")]);
    onceproof(&["run", "--scenarios", &broken]).exits(64).complains("mine.toml:5:7]");
}

#[test]
fn json_holds_what_a_program_needs() {
    let ran = onceproof(&["run", LOUD, "--format", "json", "--seed", "7"]).exits(0);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["exit_code"], 0);
    let cells = report["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 6);
    let of = |profile: &str, ability: &str| {
        let found = cells.iter().find(|cell| cell["profile"] == profile && cell["ability"] == ability);
        found.expect("a cell").clone()
    };
    let zap = of("zap", "keyed");
    assert_eq!((&zap["scenario"], &zap["seed"]), (&LOUD.into(), &7.into()));
    assert_eq!((&zap["verdict"], &zap["summary"]), (&"violated".into(), &"violated once".into()));
    assert_eq!((&zap["as_expected"], &zap["effects"]["cart-7"]), (&true.into(), &2.into()));
    assert!(zap["because"].as_str().expect("a reason").starts_with("S10: "));
    assert_eq!(zap["digest"].as_str().expect("a digest").len(), 64);
    let signal = &zap["signals"][1];
    assert_eq!((&signal["signal"], &signal["level"]), (&"escaped-duplicates".into(), &"raised".into()));
    assert_eq!(zap["metrics"]["onceproof_sends_total"], 1);
    let once = &zap["broken"][0];
    assert_eq!(
        (&once["name"], &once["kind"], &once["ruling"]),
        (&"once".into(), &"safety".into(), &"violated".into())
    );
    assert!(once["why"].as_str().expect("words").contains("acted again"));
    let evidence = once["evidence"].as_array().expect("evidence").last().expect("an entry");
    assert_eq!((&evidence["entry"]["event"], &evidence["entry"]["nth"]), (&"effect".into(), &2.into()));
    assert_eq!(pasted(zap["again"].as_str().expect("a command")).exits(0).agains().len(), 1);
    let strict = of("strict", "opaque");
    assert_eq!((&strict["verdict"], &strict["summary"]), (&"kept".into(), &"kept ?1".into()));
    assert_eq!(strict["unknown"][0]["scope"], "loja-1/messages/text");
}

#[test]
fn what_run_writes_can_be_replayed_and_checked() {
    let out = folder("out");
    onceproof(&["run", LOUD, "--out", text(&out)]).exits(0);
    for (cell, code, verdict, end) in [
        ("zap.keyed", 1, "violated once", "STILL FAILS"),
        ("zap.opaque", 1, "violated once", "STILL FAILS"),
        ("strict.keyed", 0, "kept", "FIXED"),
        ("strict.opaque", 0, "kept ?1", "FIXED"),
    ] {
        let cell = out.join(format!("{LOUD}.{cell}"));
        let read = |name: &str| fs::read_to_string(cell.join(name)).expect(name);
        let ran = onceproof(&["replay", text(&cell.join("plan.toml"))]).exits(code);
        assert_eq!(ran.last_line(), end);
        let ran = ran.says(&format!("\ndigest {}\n", read("digest.txt")));
        ran.says(&format!("verdict {verdict}\n"));
        let ran = onceproof(&["check", text(&cell.join("history.ndjson"))]).exits(code);
        assert_eq!(ran.last_line(), format!("verdict {verdict}"));
        let signal = "signal escaped-duplicates raised: ";
        let _ = if code == 0 { ran.says_nothing_of(signal) } else { ran.says(signal) };
        assert!(read("timeline.txt").contains("FAULT 1 crashes gateway-1"));
        assert!(read("timeline.txt").contains("★ the message goes out"), "a legend");
    }
}

#[test]
fn another_seed_is_another_run_of_the_same_plan() {
    let out = folder("seeds");
    onceproof(&["run", "lost-200", "--profile", "strict", "--seed", "5", "--out", text(&out)]).exits(0);
    let cell = out.join("lost-200.strict.keyed");
    let digest = fs::read_to_string(cell.join("digest.txt")).expect("a digest");
    let plan = cell.join("plan.toml");
    onceproof(&["replay", text(&plan), "--seed", "5"]).exits(0).says(&digest);
    onceproof(&["replay", text(&plan), "--seed", "6"]).exits(0).says_nothing_of(&digest);
}

#[test]
fn a_plan_that_tests_nothing_is_neither_fixed_nor_failing() {
    let mine = spoilt("idle-plan", "lost", &[("#1\"", "#99\"")]);
    let out = folder("idle-plan-out");
    onceproof(&["run", "--scenarios", &mine, "--profile", "strict", "--out", text(&out)]).exits(4);
    let plan = out.join("mine.strict.keyed").join("plan.toml");
    let ran = onceproof(&["replay", text(&plan)]).exits(4);
    assert!(ran.last_line().starts_with("INCONCLUSIVE: "), "{}", ran.last_line());
}

/// Every line that promises a repetition keeps it, from the same folder, in a shell.
#[test]
fn every_line_again_works_when_it_is_pasted() {
    let mine = spoilt("again", "crash", &[]);
    let out = folder("again it's out");
    let (mine, out) = (mine.as_str(), text(&out));
    let calls: [&[&str]; 3] = [
        &["run", "--scenarios", mine, "--profile", "zap", "--seed", "3"],
        &["run", "--scenarios", mine, "--profile", "zap", "--out", out],
        &["run", "--scenarios", mine, "--profile", "zap", "--engine", "turmoil"],
    ];
    for words in calls {
        let first = onceproof(words).exits(1);
        let [again] = first.agains()[..] else { panic!("one story in\n{}", first.stdout) };
        let second = pasted(again).exits(1);
        assert_eq!(second.agains().len(), 1, "{}", second.stdout);
        assert_eq!(pasted(second.agains()[0]).exits(1).stdout, second.stdout, "and again");
        assert_eq!(again.contains("--engine turmoil"), words.contains(&"turmoil"), "{again}");
        let violated = |text: &str| {
            text.lines().filter(|l| l.contains("EFFECT 2")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(violated(&first.stdout), violated(&second.stdout), "the same seed");
    }
    let history = Path::new(out).join("mine.zap.keyed").join("history.ndjson");
    let checked = onceproof(&["check", text(&history)]).exits(1);
    assert_eq!(pasted(checked.agains()[0]).exits(1).stdout, checked.stdout);
}

#[test]
fn a_history_that_is_none_is_refused_with_its_line() {
    let folder = folder("garbage");
    let path = folder.join("history.ndjson");
    fs::write(&path, "garbage\n").expect("written");
    onceproof(&["check", text(&path)]).exits(64).complains("history.ndjson: line 1: not a JSON object");
    let out = folder.join("out");
    onceproof(&["run", "first-send", "--profile", "strict", "--out", text(&out)]).exits(0);
    let good =
        fs::read_to_string(out.join("first-send.strict.keyed").join("history.ndjson")).expect("a history");
    let lines: Vec<&str> = good.lines().collect();
    fs::write(&path, format!("{}\n{}\n{{\"event\":\"efect\"}}\n", lines[0], lines[1])).expect("written");
    onceproof(&["check", text(&path)]).exits(64).complains("line 3: unknown event \"efect\"");
    onceproof(&["check", text(&folder.join("nowhere"))]).exits(64).complains("cannot read");
}

#[test]
fn a_plan_that_is_none_is_refused_with_its_place() {
    let scenario = Path::new(&spoilt("no-plan", "lost", &[])).join("mine.toml");
    let ran = onceproof(&["replay", text(&scenario)]).exits(64);
    ran.complains("a plan has exactly one profile").complains("mine.toml:6:12]");
    onceproof(&["replay", "/nowhere/plan.toml"]).exits(64).complains("cannot read /nowhere/plan.toml");
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_anything_is_played() {
    let file = folder("no-folder").join("file");
    fs::write(&file, "").expect("written");
    let ran = onceproof(&["run", "first-send", "--out", text(&file.join("out"))])
        .exits(64)
        .complains("cannot write to");
    assert_eq!(ran.stdout, "");
}

#[test]
fn determinism_holds_and_what_spoils_it_is_found() {
    let ran = onceproof(&["determinism", "--cases", "5"]).exits(0);
    ran.says("5 of 5 plans gave the same bytes three times");
    let ran = onceproof(&["determinism", "--cases", "5", "--plant-nondeterminism"]).exits(3);
    assert_eq!(ran.last_line(), "exit code 3: not deterministic");
    ran.says("0 of 5 plans").says("seed 1: two runs in this process differ: event ");
}

#[test]
fn help_lists_every_exit_code_and_how_to_read_what_is_printed() {
    let help = onceproof(&["--help"]).exits(0);
    let (_, codes) = help.stdout.split_once("Exit codes:\n").expect("a list of exit codes");
    let listed: Vec<&str> = codes.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(listed, ["0", "1", "2", "3", "4", "5", "64", "70"]);
    for command in ["run", "replay", "check"] {
        let help = onceproof(&[command, "--help"]).exits(0).says("Exit codes:\n").says("kept ?n");
        help.says("★ the message goes out").says_nothing_of("plant");
    }
    onceproof(&["determinism", "--help"]).exits(0).says_nothing_of("plant");
    onceproof(&["--version"]).exits(0).says("onceproof ");
    onceproof::<&str>(&[]).exits(64);
}

/// The bearer tokens of the simulated world stand for real ones: nothing that is printed or written holds one.
#[test]
fn no_secret_is_printed_or_written() {
    let out = folder("secrets");
    let printed = onceproof(&["run", "--out", text(&out)]).exits(0);
    let json = onceproof(&["run", "--format", "json"]).exits(0);
    let mut texts = files(&out);
    assert_eq!(texts.len() % 4, 0, "four files a cell");
    assert!(texts.len() > 100);
    texts.extend([printed.stdout, printed.stderr, json.stdout].map(|text| ("printed".into(), text)));
    for (path, text) in texts {
        let text = text.to_lowercase();
        for secret in ["token-of-loja-1", "token-of-the-gateway", "bearer", "authorization"] {
            assert!(!text.contains(secret), "{secret} in {}", path.display());
        }
    }
}

/// `onceproof run | head -1`
#[test]
fn a_closed_pipe_is_no_reason_to_panic_and_does_not_change_the_exit_code() {
    let mine = spoilt("pipe", "crash", &[]);
    for (words, code) in [(vec!["run"], 0), (vec!["run", "--scenarios", &mine], 1), (vec!["--help"], 0)] {
        let mut child = Command::new(ONCEPROOF)
            .args(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let errors = BufReader::new(child.stderr.take().expect("piped")).lines();
        let errors: Vec<String> = errors.collect::<Result<_, _>>().expect("UTF-8");
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{words:?}: {errors:?}");
        assert_eq!(errors, Vec::<String>::new());
    }
    if Path::new("/dev/full").exists() {
        pasted(&format!("{ONCEPROOF} run first-send > /dev/full")).exits(70).complains("cannot print");
    }
}

/// Every variant has a folder and a name of its own, and one story speaks for all that end the same.
#[test]
fn variants_of_a_story_are_told_once_and_written_apart() {
    let vary = "[vary]\npoints = [\"after-dispatch\"]\nsilent = [true, false]\n\n[world]";
    let edits = [("[world]", vary), ("point = \"after-dispatch\"", "point = \"*\"")];
    let mine = spoilt("variants", "crash", &edits);
    let out = folder("variants-out");
    let ran = onceproof(&["run", "--scenarios", &mine, "--profile", "zap", "--out", text(&out)]).exits(1);
    let ran = ran.says(" · after-dispatch, silent, the first of 2 variants that end so\n");
    let [again] = ran.agains()[..] else { panic!("one story in\n{}", ran.stdout) };
    pasted(again).exits(1).says("STILL FAILS");
    assert_eq!(files(&out).len(), 2 * 2 * 4, "two abilities, two variants, four files");
    for variant in ["silent", "loud"] {
        assert!(out.join(format!("mine.zap.keyed.after-dispatch+{variant}")).is_dir());
    }
    let ran = onceproof(&["run", "--scenarios", &mine, "--profile", "zap", "--format", "json"]).exits(1);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let variants: Vec<&Value> =
        report["cells"].as_array().expect("cells").iter().map(|cell| &cell["variant"]).collect();
    let (silent, loud) = ("after-dispatch, silent", "after-dispatch, loud");
    assert_eq!(variants, [silent, loud, silent, loud]);
}

/// Lanes stay straight: every row of a timeline has its text in the same column.
#[test]
fn the_rows_of_a_timeline_are_aligned_and_repetitions_share_one() {
    let ran = onceproof(&["run", "concurrent-duplicates-two-gateways", "--profile", "zap"]).exits(0);
    let ran = ran.says("sends cart-7 to gateway-1, gateway-2 (calls 1–20, key 758bba)\n");
    let ran = ran.says("claim 758bba: meets (dispatching), ");
    let rows: Vec<&str> = ran.stdout.lines().filter(|line| line.contains('│')).collect();
    assert!((10..30).contains(&rows.len()), "{} rows", rows.len());
    let heading = ran.stdout.lines().find(|line| line.trim_start().starts_with("producer ")).expect("lanes");
    let lanes: Vec<usize> = ["producer", "gateway-1", "gateway-2", "database", "whatsapp"]
        .map(|lane| heading.find(lane).expect(lane))
        .into();
    for row in rows {
        let chars: Vec<char> = row.chars().collect();
        for lane in &lanes {
            assert!("→←×■★◆!▲?=·│".contains(chars[*lane]), "{row}");
            assert_eq!(chars[lane - 1], ' ', "{row}");
        }
    }
}
