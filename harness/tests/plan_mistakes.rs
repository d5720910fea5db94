//! Each mistake in a scenario file is shown in its line, and the help says what was meant.

use onceproof::history::Ability;
use onceproof::plan::{Plan, PlanError, Scenario};

/// A good file, which each test spoils in one place.
const GOOD: &str = r#"title = "A title"
story = "A story."
rules = ["S2", "S10"]

[world]
profiles = ["strict", "zap"]
abilities = ["keyed"]
gateways = 2

[[step]]
at = "0s"
send = { op = "cart-7", to = "5511999990001", text = "Seu carrinho" }

[[step]]
at = "24h - 1s"
send = { op = "cart-7", via = ["gateway-2"], times = 2 }

[[step]]
at = "30s"
send = { op = "order-8", to = "5511999990002", text = "Seu pedido", key_of = "cart-7" }

[[answer]]
request = 1
acts = true
status = 500

[[fault]]
when = { effect = "cart-7", nth = 1 }
cut = "gateway-1 -> producer"
mode = "held"
heal = "3s"

[[fault]]
when = { point = "after-mark", host = "gateway-1" }
crash = "gateway-1"
silent = true
restart = "1s"

[[fault]]
at = "5s"
freeze = "gateway-2"
thaw = "40s"

[[fault]]
delay = "gateway-1 -> database #2"
by = "40s"

[expect]
effects = { cart-7 = 1 }
verdict = "kept"

[expect.zap]
verdict = "violated"
invariants = ["once"]
because = "S10: it forgets"

[expect.zap.keyed]
unknown = 1
"#;

/// What is shown for a file that was spoiled.
struct Shown {
    error: PlanError,
    source: String,
}

/// Spoils the good file in one place.
fn spoil(good: &str, bad: &str) -> Shown {
    assert_eq!(GOOD.matches(good).count(), 1, "`{good}` stands once in the good file");
    let source = GOOD.replace(good, bad);
    let error = Scenario::parse("x.toml", &source).expect_err(bad);
    Shown { error, source }
}

impl Shown {
    /// Asserts the message, the line that is shown, and a part of the help.
    #[track_caller]
    fn says(self, message: &str, line: &str, help: &str) {
        assert_eq!(self.error.to_string(), message);
        let number = self.error.line().expect("a mistake has a place");
        assert_eq!(self.source.lines().nth(number - 1), Some(line));
        let meant = self.error.meant().unwrap_or_default();
        assert!(meant.contains(help), "the help is: {meant}");
        let first = message.chars().next().expect("a message");
        assert!(!first.is_uppercase(), "messages begin with a lower-case letter");
    }

    #[track_caller]
    fn underlines(self, text: &str) -> Self {
        assert_eq!(self.error.underlined(), Some(text));
        self
    }
}

#[test]
fn the_good_file_is_good() {
    Scenario::parse("x.toml", GOOD).expect("good");
}

#[test]
fn text_that_is_no_toml() {
    spoil("[world]", "[world").says("unclosed table", "[world", "expected `]`");
}

#[test]
fn unknown_fields() {
    spoil("heal = \"3s\"", "hael = \"3s\"").underlines("hael").says(
        "unknown field `hael`",
        "hael = \"3s\"",
        "did you mean `heal`?",
    );
    spoil("title = ", "titel = ").says(
        "unknown field `titel`",
        "titel = \"A title\"",
        "did you mean `title`?",
    );
    spoil("nth = 1", "nht = 1").underlines("nht").says(
        "unknown field `nht`",
        "when = { effect = \"cart-7\", nht = 1 }",
        "did you mean `nth`?",
    );
    spoil("thaw = \"40s\"", "zzz = \"40s\"").says(
        "unknown field `zzz`",
        "zzz = \"40s\"",
        "known here: `at`, `when`",
    );
}

#[test]
fn unknown_fields_among_the_expectations() {
    spoil("verdict = \"kept\"", "verdct = \"kept\"").underlines("verdct").says(
        "unknown field `verdct`",
        "verdct = \"kept\"",
        "did you mean `verdict`?",
    );
    spoil("because = ", "becuase = ").says(
        "unknown field `becuase`",
        "becuase = \"S10: it forgets\"",
        "did you mean `because`?",
    );
    spoil("unknown = 1", "unknwon = 1").says(
        "unknown field `unknwon`",
        "unknwon = 1",
        "did you mean `unknown`?",
    );
}

#[test]
fn missing_fields_and_wrong_kinds() {
    spoil("at = \"5s\"\nfreeze", "freeze").says(
        "the fault has no trigger",
        "freeze = \"gateway-2\"",
        "add `at`",
    );
    spoil("at = \"30s\"\n", "").says("missing field `at`", "[[step]]", "add it");
    spoil("story = \"A story.\"\n", "").says("missing field `story`", "title = \"A title\"", "");
    spoil("gateways = 2", "gateways = \"two\"").says(
        "invalid type: string \"two\"",
        "gateways = \"two\"",
        "a whole number, not below 0",
    );
    spoil("unknown = 1", "unknown = -1").says("invalid value: integer `-1`", "unknown = -1", "not below 0");
    spoil("silent = true", "silent = 1").says("invalid type: integer `1`", "silent = 1", "`true` or `false`");
    spoil("gateways = 2", "seed = -1").says(
        "a seed is a number from 0, written as a text from 2^63 on",
        "seed = -1",
        "",
    );
}

#[test]
fn spans_without_a_known_unit() {
    let units = "a number and its unit (ms, s, m, h or d)";
    spoil("at = \"5s\"", "at = 5").underlines("5").says("`5` has no unit", "at = 5", units);
    spoil("at = \"5s\"", "at = \"5\"").says("`5` has no unit", "at = \"5\"", units);
    spoil("at = \"5s\"", "at = \"5 sec\"").says("`sec` is no unit of time", "at = \"5 sec\"", units);
    spoil("at = \"5s\"", "at = \"soon\"").says("`soon` is no length of time", "at = \"soon\"", units);
    spoil("24h - 1s", "1s - 24h").says("`1s - 24h` is less than nothing", "at = \"1s - 24h\"", units);
    spoil("24h - 1s", "24h -").says("a number is missing", "at = \"24h -\"", units);
    spoil("at = \"5s\"", "at = \"401d\"").says("`401d` is longer than 400d", "at = \"401d\"", units);
    spoil("at = \"5s\"", "at = \"99999999999999999999d\"").says(
        "`99999999999999999999d` is too long",
        "at = \"99999999999999999999d\"",
        units,
    );
}

#[test]
fn links_and_messages() {
    let cut = "cut = \"gateway-1 -> producer\"";
    spoil(cut, "cut = \"gateway-1\"").says(
        "`gateway-1` has no arrow",
        "cut = \"gateway-1\"",
        "`producer -> gateway-1`",
    );
    spoil(cut, "cut = \"gateway-1 ->\"").says(
        "`gateway-1 ->` does not join two hosts",
        "cut = \"gateway-1 ->\"",
        "",
    );
    spoil(cut, "cut = \"gateway-1 -> producer #1\"").says(
        "`gateway-1 -> producer #1` is one message, but a whole link is meant here",
        "cut = \"gateway-1 -> producer #1\"",
        "",
    );
    spoil("database #2", "database").says(
        "`gateway-1 -> database` does not say which message",
        "delay = \"gateway-1 -> database\"",
        "`gateway-1 -> database #2`",
    );
    spoil("database #2", "database #0").says(
        "messages are counted from 1",
        "delay = \"gateway-1 -> database #0\"",
        "",
    );
    spoil("gateway-1 -> database #2", "gateway-1 <-> database #2").says(
        "`gateway-1 <-> database #2` goes both ways, but a message goes one way",
        "delay = \"gateway-1 <-> database #2\"",
        "",
    );
    spoil("gateway-1 -> database #2", "database -> database #2").says(
        "`database` has no link to itself",
        "delay = \"database -> database #2\"",
        "",
    );
}

#[test]
fn unknown_hosts() {
    spoil("gateway-1 -> producer", "gatway-1 -> producer").says(
        "unknown host `gatway-1`",
        "cut = \"gatway-1 -> producer\"",
        "did you mean `gateway-1`?",
    );
    spoil("crash = \"gateway-1\"", "crash = \"gateway-3\"").says(
        "unknown host `gateway-3`",
        "crash = \"gateway-3\"",
        "`gateway-1`, `gateway-2`",
    );
    spoil("freeze = \"gateway-2\"", "freeze = \"redis\"").says(
        "unknown host `redis`",
        "freeze = \"redis\"",
        "known here: `producer`, `whatsapp`, `database`",
    );
    spoil("via = [\"gateway-2\"]", "via = [\"whatsapp\"]").underlines("\"whatsapp\"").says(
        "unknown gateway `whatsapp`",
        "send = { op = \"cart-7\", via = [\"whatsapp\"], times = 2 }",
        "known here: `gateway-1`, `gateway-2`",
    );
    spoil("host = \"gateway-1\"", "host = \"producer\"").says(
        "unknown gateway `producer`",
        "when = { point = \"after-mark\", host = \"producer\" }",
        "known here: `gateway-1`, `gateway-2`",
    );
}

#[test]
fn unknown_points_and_operations() {
    spoil("\"after-mark\"", "\"after-marks\"").underlines("\"after-marks\"").says(
        "unknown point `after-marks`",
        "when = { point = \"after-marks\", host = \"gateway-1\" }",
        "did you mean `after-mark`?",
    );
    spoil("effect = \"cart-7\"", "effect = \"cart-8\"").says(
        "unknown operation `cart-8`",
        "when = { effect = \"cart-8\", nth = 1 }",
        "did you mean `cart-7`?",
    );
    spoil("key_of = \"cart-7\"", "key_of = \"card-7\"").says(
        "unknown operation `card-7`",
        "send = { op = \"order-8\", to = \"5511999990002\", text = \"Seu pedido\", key_of = \"card-7\" }",
        "did you mean `cart-7`?",
    );
    spoil("effects = { cart-7 = 1 }", "effects = { cart7 = 1 }").underlines("cart7").says(
        "no step sends `cart7`",
        "effects = { cart7 = 1 }",
        "did you mean `cart-7`?",
    );
}

#[test]
fn faults_that_do_nothing_or_too_much() {
    spoil("freeze = \"gateway-2\"\nthaw = \"40s\"\n", "").says(
        "the fault does nothing",
        "[[fault]]",
        "`cut`, `slow`, `lose`",
    );
    spoil("freeze = \"gateway-2\"", "freeze = \"gateway-2\"\ncrash = \"gateway-2\"")
        .underlines("freeze")
        .says(
            "the fault does two things, `crash` and `freeze`",
            "freeze = \"gateway-2\"",
            "a [[fault]] for each",
        );
}

#[test]
fn faults_with_no_trigger_or_too_many() {
    spoil("at = \"5s\"\nfreeze", "at = \"5s\"\nwhen = { effect = \"cart-7\" }\nfreeze").says(
        "the fault has two triggers, `at` and `when`",
        "when = { effect = \"cart-7\" }",
        "leave one out",
    );
    spoil("delay = ", "at = \"7s\"\ndelay = ").says(
        "`at` says nothing beside `delay`",
        "at = \"7s\"",
        "the message says when",
    );
    spoil("effect = \"cart-7\", nth", "effect = \"cart-7\", point = \"after-mark\", nth").says(
        "a trigger waits for exactly one thing",
        "when = { effect = \"cart-7\", point = \"after-mark\", nth = 1 }",
        "one of `effect`, `point` and `message`",
    );
    spoil("{ effect = \"cart-7\", nth = 1 }", "{ nth = 1 }").says(
        "a trigger waits for exactly one thing",
        "when = { nth = 1 }",
        "",
    );
    spoil("nth = 1", "nth = 0").says(
        "occurrences are counted from 1",
        "when = { effect = \"cart-7\", nth = 0 }",
        "`nth = 1` for the first",
    );
    spoil("effect = \"cart-7\", nth = 1", "message = \"producer -> gateway-1 #1\", nth = 2")
        .underlines("nth")
        .says(
            "`nth` says nothing here",
            "when = { message = \"producer -> gateway-1 #1\", nth = 2 }",
            "`effect` and `point`",
        );
    spoil("effect = \"cart-7\", nth", "effect = \"cart-7\", host = \"gateway-1\", nth").says(
        "`host` says nothing here",
        "when = { effect = \"cart-7\", host = \"gateway-1\", nth = 1 }",
        "`point`",
    );
}

#[test]
fn details_without_their_action() {
    spoil("by = \"40s\"\n", "").says(
        "the delay does not say how long",
        "delay = \"gateway-1 -> database #2\"",
        "add `by`",
    );
    let freeze = "freeze = \"gateway-2\"";
    for (detail, action) in [
        ("by = \"1s\"", "`delay`, `slow`"),
        ("restart = \"2s\"", "`crash`"),
        ("silent = false", "`crash`"),
        ("mode = \"lost\"", "`cut`"),
        ("heal = \"2s\"", "`cut`, `slow`, `refuse`, `clock`"),
    ] {
        let name = detail.split(' ').next().unwrap_or_default();
        spoil(freeze, &format!("{freeze}\n{detail}")).underlines(name).says(
            &format!("`{name}` says nothing beside `freeze`"),
            detail,
            &format!("it belongs to {action}"),
        );
    }
    spoil("mode = \"held\"", "thaw = \"2s\"").says(
        "`thaw` says nothing beside `cut`",
        "thaw = \"2s\"",
        "`freeze`",
    );
    spoil("mode = \"held\"", "mode = \"lossy\"").says(
        "unknown word `lossy`",
        "mode = \"lossy\"",
        "`held`, `lost`",
    );
    spoil("heal = \"3s\"", "heal = \"0s\"").says("the fault lasts no time", "heal = \"0s\"", "`1ms`");
}

#[test]
fn steps_that_do_not_say_what_is_sent() {
    spoil("to = \"5511999990001\", ", "").says(
        "the first step of `cart-7` has no `to`",
        "send = { op = \"cart-7\", text = \"Seu carrinho\" }",
        "the first step says what is sent",
    );
    spoil(", text = \"Seu carrinho\"", "").says(
        "the first step of `cart-7` has no `text`",
        "send = { op = \"cart-7\", to = \"5511999990001\" }",
        "",
    );
    spoil("via = [\"gateway-2\"], ", "text = \"Outro\", ").underlines("\"Outro\"").says(
        "a repetition of `cart-7` has another `text`",
        "send = { op = \"cart-7\", text = \"Outro\", times = 2 }",
        "`key_of = \"cart-7\"`",
    );
    spoil("via = [\"gateway-2\"], ", "to = \"1\", ").says(
        "a repetition of `cart-7` has another `to`",
        "send = { op = \"cart-7\", to = \"1\", times = 2 }",
        "leave `to` out",
    );
    spoil("op = \"order-8\"", "op = \"Order 8\"").says(
        "`Order 8` cannot name an operation",
        "send = { op = \"Order 8\", to = \"5511999990002\", text = \"Seu pedido\", key_of = \"cart-7\" }",
        "lower-case letters",
    );
    spoil("key_of = \"cart-7\"", "key_of = \"order-8\"").says(
        "`order-8` uses its own key anyway",
        "send = { op = \"order-8\", to = \"5511999990002\", text = \"Seu pedido\", key_of = \"order-8\" }",
        "leave `key_of` out",
    );
    spoil("via = [\"gateway-2\"]", "via = []").says(
        "`via` names no gateway",
        "send = { op = \"cart-7\", via = [], times = 2 }",
        "leave it out",
    );
}

#[test]
fn answers_that_cannot_be() {
    spoil("request = 1", "request = 0").says(
        "requests at the provider are counted from 1",
        "request = 0",
        "",
    );
    spoil("status = 500", "status = 99").says("the status is 99", "status = 99", "200 to 599");
    let twice = "status = 500\n\n[[answer]]\nrequest = 1\nacts = false\nstatus = 503";
    spoil("status = 500", twice).says("request 1 is answered twice", "request = 1", "leave one out");
}

#[test]
fn worlds_that_cannot_be() {
    spoil("\"zap\"]", "\"zapp\"]").underlines("\"zapp\"").says(
        "unknown profile `zapp`",
        "profiles = [\"strict\", \"zapp\"]",
        "did you mean `zap`?",
    );
    spoil("\"zap\"]", "\"strict\"]").says(
        "`strict` is named twice",
        "profiles = [\"strict\", \"strict\"]",
        "",
    );
    spoil("profiles = [\"strict\", \"zap\"]", "profiles = []").says(
        "nothing is named, so nothing would run",
        "profiles = []",
        "`ietf-gateway`",
    );
    spoil("abilities = [\"keyed\"]", "abilities = []").says(
        "nothing is named, so nothing would run",
        "abilities = []",
        "`keyed`",
    );
    spoil("abilities = [\"keyed\"]", "abilities = [\"kyed\"]").says(
        "unknown word `kyed`",
        "abilities = [\"kyed\"]",
        "did you mean `keyed`?",
    );
    spoil("gateways = 2", "gateways = 0").says("the number of gateways is 0", "gateways = 0", "1 to 8");
    spoil("gateways = 2", "gateways = 9").says("the number of gateways is 9", "gateways = 9", "1 to 8");
    spoil("gateways = 2", "producer = { timeout = \"0s\" }").says(
        "an attempt of a producer lasts no time",
        "producer = { timeout = \"0s\" }",
        "",
    );
}

#[test]
fn rules_that_are_not_there() {
    for rule in ["S14", "S0", "S01", "W12", "M4", "H6", "X1", "s2", "S", ""] {
        let line = format!("rules = [\"S2\", \"{rule}\"]");
        spoil("rules = [\"S2\", \"S10\"]", &line).says(&format!("unknown rule `{rule}`"), &line, "S1 to S13");
    }
    spoil("rules = [\"S2\", \"S10\"]", "rules = []").says("the scenario shows no rule", "rules = []", "");
    spoil("\"A title\"", "\"\"").says("the title is empty", "title = \"\"", "");
}

#[test]
fn expectations_that_cannot_be() {
    spoil("verdict = \"violated\"", "verdict = \"broken\"").says(
        "unknown verdict `broken`",
        "verdict = \"broken\"",
        "`kept`, `violated`, `waived`, `inconclusive`",
    );
    spoil("invariants = [\"once\"]", "invariants = [\"onec\"]").says(
        "unknown invariant `onec`",
        "invariants = [\"onec\"]",
        "did you mean `once`?",
    );
    spoil("invariants = [\"once\"]\n", "").says(
        "`violated` for zap with a provider that is keyed does not say which invariants",
        "verdict = \"violated\"",
        "exactly those",
    );
    spoil("because = \"S10: it forgets\"\n", "").says(
        "`violated` for zap with a provider that is keyed has no reason",
        "verdict = \"violated\"",
        "add `because",
    );
    for because in ["it forgets", "S99: it forgets", "S10 it forgets", "S10:"] {
        let line = format!("because = \"{because}\"");
        spoil("because = \"S10: it forgets\"", &line).says(
            "the reason does not begin with a rule",
            &line,
            "S10: what the rule does",
        );
    }
    spoil("verdict = \"kept\"", "verdict = \"kept\"\ninvariants = [\"once\"]").says(
        "a verdict of `kept` has no violated invariants",
        "invariants = [\"once\"]",
        "",
    );
}

#[test]
fn expectations_of_those_who_do_not_play() {
    spoil("[expect.zap.keyed]\nunknown = 1", "[expect.zapp]\nunknown = 1").underlines("zapp").says(
        "profile `zapp` does not play in this scenario",
        "[expect.zapp]",
        "did you mean `zap`?",
    );
    spoil("[expect.zap.keyed]", "[expect.zap.opaque]").underlines("opaque").says(
        "ability `opaque` does not play in this scenario",
        "[expect.zap.opaque]",
        "known here: `keyed`",
    );
    spoil("[expect.zap.keyed]", "[expect.zap.kyed]").says(
        "unknown field `kyed`",
        "[expect.zap.kyed]",
        "did you mean `keyed`?",
    );
}

#[test]
fn steps_that_do_nothing_or_too_much() {
    let send = "send = { op = \"cart-7\", via = [\"gateway-2\"], times = 2 }";
    spoil(send, "").says(
        "a step does exactly one thing",
        "[[step]]",
        "`resolve`, `redrive`, `deliver` and `status`",
    );
    let two = format!("{send}\nlook_up = {{ op = \"cart-7\", by = \"key\" }}");
    spoil(send, &two).says(
        "a step does exactly one thing",
        "[[step]]",
        "`resolve`, `redrive`, `deliver` and `status`",
    );
    spoil(send, "look_up = { op = \"cart-8\", by = \"key\" }").says(
        "unknown operation `cart-8`",
        "look_up = { op = \"cart-8\", by = \"key\" }",
        "did you mean `cart-7`?",
    );
    spoil(send, "resolve = { op = \"cart-7\", as = \"sent\", via = \"gateway-3\" }").says(
        "unknown gateway `gateway-3`",
        "resolve = { op = \"cart-7\", as = \"sent\", via = \"gateway-3\" }",
        "`gateway-1`, `gateway-2`",
    );
    spoil(send, "resolve = { op = \"cart-7\", as = \"lost\" }").says(
        "unknown word `lost`",
        "resolve = { op = \"cart-7\", as = \"lost\" }",
        "`sent`, `not-sent`",
    );
}

/// Adds fields to the second step, which repeats `cart-7` and says nothing of its key.
fn with(fields: &str) -> (Shown, String) {
    let line = format!("send = {{ op = \"cart-7\", {fields} }}");
    (spoil("send = { op = \"cart-7\", via = [\"gateway-2\"], times = 2 }", &line), line)
}

#[test]
fn places_that_no_gateway_serves() {
    let (shown, line) = with("route = \"messages/txt\"");
    shown.underlines("\"messages/txt\"").says(
        "unknown route `messages/txt`",
        &line,
        "did you mean `messages/text`? known here: `messages`, `messages/text`, `messages/media`",
    );
    let (shown, line) = with("prefix = \"v2\"");
    shown.says("unknown prefix `v2`", &line, "known here: `v1`, `api`");
    let (shown, line) = with("instance = \"loja-3\"");
    shown.says("unknown tenant `loja-3`", &line, "known here: `loja-1`, `loja-2`");
    let (shown, line) = with("token = \"old\"");
    shown.says("unknown word `old`", &line, "`current`, `rotated`, `wrong`, `none`");
}

#[test]
fn bodies_without_the_marker_of_their_operation() {
    let (shown, line) = with(r#"body = '{"to":"1","text":"x"}'"#);
    shown.says("the body does not bear the marker of `cart-7`", &line, "end its text with `[cart-7]`");
    let first = "to = \"5511999990001\", text = \"Seu carrinho\"";
    spoil(first, "body = \"x [cart-70]\"").underlines("\"x [cart-70]\"").says(
        "the body does not bear the marker of `cart-7`",
        "send = { op = \"cart-7\", body = \"x [cart-70]\" }",
        "",
    );
}

#[test]
fn keys_that_contradict_each_other() {
    let (shown, line) = with("key = \"k\", no_key = true");
    shown.underlines("no_key").says("`key` and `no_key` contradict each other", &line, "leave one out");
    let other = "key_of = \"cart-7\"";
    for (more, first, second) in [("key = \"k\"", "key", "key_of"), ("no_key = true", "key_of", "no_key")] {
        let line = format!("{other}, {more}");
        let message = format!("`{first}` and `{second}` contradict each other");
        let shown = spoil(other, &line).underlines(second);
        let whole =
            format!("send = {{ op = \"order-8\", to = \"5511999990002\", text = \"Seu pedido\", {line} }}");
        shown.says(&message, &whole, "leave one out");
    }
    let (shown, line) = with("second_key = \"k\"");
    shown.underlines("second_key").says("there is a second key and no first", &line, "add `key`");
}

#[test]
fn headers_that_http_cannot_carry() {
    let (shown, line) = with(r#"key = "a\nb""#);
    shown.says("`key` is no header that HTTP can carry", &line, "no line feed");
    let (shown, line) = with(r#"key = "a", second_key = "\u007f""#);
    shown.says("`second_key` is no header that HTTP can carry", &line, "control character");
}

#[test]
fn uploads_that_cannot_be() {
    let (shown, line) = with("file = \"%PDF\"");
    shown.underlines("file").says(
        "`messages/text` takes no file",
        &line,
        "`messages/media`, `messages/audio`, `messages/document`",
    );
    let (shown, line) = with("cut_upload = true");
    shown.underlines("cut_upload").says("there is no upload to cut", &line, "add `file`");
}

#[test]
fn policies_that_cannot_be() {
    let gateways = "gateways = 2";
    spoil(gateways, "gateways = 2\npolicy = { leese = \"3s\" }").underlines("leese").says(
        "unknown policy field `leese`",
        "policy = { leese = \"3s\" }",
        "did you mean `lease`?",
    );
    spoil(gateways, "gateways = 2\n[world.policy]\nlease = \"3 parsecs\"").underlines("\"3 parsecs\"").says(
        "`lease` cannot be so: not a period: `3 parsecs` (unknown time unit \"parsecs\", \
         supported units: ns, us/µs, ms, sec, min, hours, days, weeks, months, years \
         (and few variations))",
        "lease = \"3 parsecs\"",
        "a period as a text with its unit",
    );
    let crash = "silent = true";
    spoil(crash, "upgrade = { body_limits = 5 }").underlines("body_limits").says(
        "unknown policy field `body_limits`",
        "upgrade = { body_limits = 5 }",
        "did you mean `body_limit`?",
    );
    spoil(gateways, "gateways = 2\nkey_retention = \"0s\"").says(
        "the memory of the provider lasts no time",
        "key_retention = \"0s\"",
        "",
    );
}

#[test]
fn clocks_commits_and_slow_links() {
    let freeze = "freeze = \"gateway-2\"\nthaw = \"40s\"";
    spoil(freeze, "freeze = \"gateway-2\"\noffset = \"+5m\"").underlines("offset").says(
        "`offset` says nothing beside `freeze`",
        "offset = \"+5m\"",
        "it belongs to `clock`",
    );
    spoil(freeze, "clock = \"gateway-2\"").says(
        "the clock is not said to be off",
        "clock = \"gateway-2\"",
        "add `offset`",
    );
    spoil(freeze, "clock = \"database\"\noffset = \"+5m\"").says(
        "unknown gateway `database`",
        "clock = \"database\"",
        "`gateway-1`, `gateway-2`",
    );
    spoil(freeze, "lose_commits = 0").says(
        "the number of lost commits is 0",
        "lose_commits = 0",
        "it may be 1 to",
    );
    spoil(freeze, "slow = \"gateway-1 -> databse\"\nby = \"1s\"").says(
        "unknown host `databse`",
        "slow = \"gateway-1 -> databse\"",
        "did you mean `database`?",
    );
    spoil(freeze, "slow = \"gateway-1 -> database\"").says(
        "the delay does not say how long",
        "slow = \"gateway-1 -> database\"",
        "add `by`",
    );
}

#[test]
fn a_producer_that_never_comes_back() {
    spoil("crash = \"gateway-1\"", "crash = \"producer\"").underlines("\"producer\"").says(
        "the producer cannot crash: its steps would never end",
        "crash = \"producer\"",
        "crash a gateway",
    );
    spoil("freeze = \"gateway-2\"\nthaw = \"40s\"", "freeze = \"producer\"").says(
        "the producer freezes for good: its steps would never end",
        "freeze = \"producer\"",
        "add `thaw`",
    );
}

#[test]
fn answers_that_come_at_once_or_never() {
    spoil("status = 500", "status = 500\nafter = \"0s\"").says(
        "the pause before the answer lasts no time",
        "after = \"0s\"",
        "`1ms`",
    );
    spoil("status = 500", "status = 500\nafter = \"24h + 1s\"").says(
        "the provider thinks for 24h + 1s",
        "after = \"24h + 1s\"",
        "up to 24h",
    );
}

#[test]
fn expected_answers_that_cannot_be() {
    let effects = "effects = { cart-7 = 1 }";
    spoil(effects, "answers = { cart7 = [\"200\"] }").underlines("cart7").says(
        "no step sends `cart7`",
        "answers = { cart7 = [\"200\"] }",
        "did you mean `cart-7`?",
    );
    for answer in ["", "2000", "OK", "200 ", "none", "none ", "look-up", "look-up sent", "resolve 4o9"] {
        let line = format!("answers = {{ cart-7 = [\"200 replay\", \"{answer}\"] }}");
        spoil(effects, &line).underlines(&format!("\"{answer}\"")).says(
            &format!("`{answer}` is no answer"),
            &line,
            "`504 outcome-unknown`",
        );
    }
    let all = [
        "200",
        "200 replay",
        "504 outcome-unknown",
        "none timeout",
        "look-up 200 sent",
        "look-up 404",
        "look-up none",
        "resolve 409 too-early",
    ];
    let good = GOOD.replace(effects, &format!("answers = {{ cart-7 = {all:?} }}"));
    Scenario::parse("x.toml", &good).expect("all of these can be met");
}

#[test]
fn expected_metrics_and_signals_that_cannot_be() {
    let effects = "effects = { cart-7 = 1 }";
    let line = "metrics = { onceproof_replay_total = 1 }";
    spoil(effects, line).underlines("onceproof_replay_total").says(
        "unknown metric `onceproof_replay_total`",
        line,
        "did you mean `onceproof_replays_total`?",
    );
    let line = "metrics = { onceproof_job_attempts = 1 }";
    spoil(effects, line).says(
        "unknown metric `onceproof_job_attempts`",
        line,
        "`onceproof_job_attempts_sum`",
    );
    let line = "signals = [\"dead-letters\", \"dead-letter\"]";
    spoil(effects, line).underlines("\"dead-letter\"").says(
        "unknown signal `dead-letter`",
        line,
        "did you mean `dead-letters`?",
    );
    let without = "[expect.meta-redis]\nmetrics = { onceproof_replays_total = 1 }\n\n[expect.zap]";
    let source = GOOD.replace("\"zap\"]", "\"zap\", \"meta-redis\"]");
    let error = Scenario::parse("x.toml", &source.replace("[expect.zap]", without)).expect_err("no metrics");
    assert_eq!(error.to_string(), "profile `meta-redis` has no metrics");
    // What all are expected to count is not compared where nobody counts.
    let good = source.replace(effects, &format!("{effects}\nmetrics = {{ onceproof_replays_total = 1 }}"));
    let scenario = Scenario::parse("x.toml", &good).expect("a good file");
    let metrics = |profile| scenario.expect.of(profile, Ability::Keyed).metrics;
    assert_eq!(metrics("zap").map(|metrics| metrics.len()), Some(1));
    assert_eq!(metrics("meta-redis"), None);
}

#[test]
fn limits() {
    spoil("times = 2", "times = 0").says(
        "`times` is 0",
        "send = { op = \"cart-7\", via = [\"gateway-2\"], times = 0 }",
        "1 to 1000",
    );
    spoil("times = 2", "times = 1001").says(
        "`times` is 1001",
        "send = { op = \"cart-7\", via = [\"gateway-2\"], times = 1001 }",
        "1 to 1000",
    );
    let many = "[[step]]\nat = \"1s\"\nsend = { op = \"cart-7\" }\n".repeat(998) + "\n[[answer]]";
    let shown = spoil("[[answer]]", &many);
    assert_eq!(shown.error.to_string(), "1001 steps are too many");
    let loud =
        "[[step]]\nat = \"1s\"\nsend = { op = \"cart-7\", times = 1000 }\n".repeat(11) + "\n[[answer]]";
    assert_eq!(spoil("[[answer]]", &loud).error.to_string(), "10004 sends are too many");
    let large = format!("{GOOD}#{}", " ".repeat(256 * 1024));
    let error = Scenario::parse("x.toml", &large).expect_err("too large");
    assert!(error.to_string().starts_with("x.toml has 26"), "{error}");
}

#[test]
fn a_plan_is_exactly_one_run() {
    let refused = |source: &str| Plan::parse("x.toml", source).expect_err("no plan").to_string();
    assert_eq!(refused(GOOD), "a plan has exactly one profile");
    let one = r#"
title = "t"
story = "s"
rules = ["S2"]
world = { profiles = ["strict"], abilities = ["keyed"] }
step = [{ at = "0s", send = { op = "a", to = "1", text = "x" } }]
expect = { effects = { a = 1 } }
"#;
    assert_eq!(refused(one), "a plan has a seed");
    assert_eq!(Plan::parse("x", &one.replace("world = { ", "world = { seed = 3, ")).expect("good").seed(), 3);
    assert_eq!(refused(&one.replace("\"keyed\"", "\"keyed\", \"opaque\"")), "a plan has exactly one ability");
}
