//! Checks of what the producers send, and of what the provider is told to say.

use std::collections::{BTreeMap, BTreeSet};

use http::HeaderValue;

use super::{File, deliveries};
use crate::plan::places::Place;
use crate::plan::{PlanError, Scenario, ScriptedAnswer, Send, Span, Step, meant, names};

const STEPS_MAX: usize = 1_000;
const TIMES_MAX: usize = 1_000;
const SENDS_MAX: usize = 10_000;
const ANSWERS_MAX: usize = 1_000;
const RETRIES_MAX: usize = 100;
const OP_BYTES_MAX: usize = 64;
/// How long a provider may think before it answers.
const THINKS_MAX: Span = Span::from_ms(24 * 60 * 60 * 1000);

pub(super) fn check(file: &File<'_>, scenario: &Scenario) -> Result<(), PlanError> {
    let place = Place::root().key("step");
    if scenario.steps.is_empty() {
        return Err(file
            .mistake(&Place::root().key("title"), "nothing is sent in this scenario")
            .help("add a [[step]] with `at` and `send`"));
    }
    file.at_most(&place, "steps", scenario.steps.len(), STEPS_MAX)?;
    deliveries::limits(file, scenario)?;
    let ops: BTreeSet<&str> = scenario.sends().map(|send| send.op.as_str()).collect();
    let gateways = names::gateways(scenario.world.gateways);
    let (mut first_of, mut sends): (BTreeMap<&str, &Send>, usize) = Default::default();
    for (i, step) in scenario.steps.iter().enumerate() {
        let Some(send) = one_action(file, &place.item(i), step, &ops, &gateways)? else {
            continue;
        };
        let here = place.item(i).key("send");
        one_send(file, &here, send, &gateways)?;
        match first_of.get(send.op.as_str()) {
            None => first(file, &here, send)?,
            Some(first) => repetition(file, &here, send, first)?,
        }
        key_of(file, &here.key("key_of"), send, &ops)?;
        upload(file, &here, send, first_of.get(send.op.as_str()).copied())?;
        first_of.entry(send.op.as_str()).or_insert(send);
        sends += send.times as usize;
        file.at_most(&here, "sends", sends, SENDS_MAX)?;
    }
    deliveries::check(file, scenario, &gateways)?;
    answers(file, &scenario.answers)
}

/// The send of a step, if that is what it does.
fn one_action<'s>(
    file: &File<'_>,
    place: &Place,
    step: &'s Step,
    ops: &BTreeSet<&str>,
    gateways: &[String],
) -> Result<Option<&'s Send>, PlanError> {
    let given = [
        step.send.is_some(),
        step.order.is_some(),
        step.look_up.is_some(),
        step.resolve.is_some(),
        step.redrive.is_some(),
        step.deliver.is_some(),
        step.status.is_some(),
    ];
    if given.into_iter().filter(|given| *given).count() != 1 {
        return Err(file
            .mistake(place, "a step does exactly one thing")
            .help("give one of `send`, `order`, `look_up`, `resolve`, `redrive`, `deliver` and `status`"));
    }
    let look_up = step.look_up.as_ref().map(|look_up| ("look_up", &look_up.op, &look_up.via));
    let resolve = step.resolve.as_ref().map(|resolve| ("resolve", &resolve.op, &resolve.via));
    if let Some((field, op, via)) = look_up.or(resolve) {
        let here = place.key(field);
        file.known(&here.key("op"), "operation", op, &ops.iter().collect::<Vec<_>>())?;
        file.known(&here.key("via"), "gateway", via, gateways)?;
    }
    Ok(step.send.as_ref())
}

fn one_send(file: &File<'_>, place: &Place, send: &Send, gateways: &[String]) -> Result<(), PlanError> {
    op(file, &place.key("op"), &send.op)?;
    let times = send.times as usize;
    file.within(&place.key("times"), "`times`", times, 1, TIMES_MAX)?;
    via(file, &place.key("via"), &send.via, gateways)?;
    file.known(&place.key("route"), "route", &send.route, &names::ROUTES)?;
    file.known(&place.key("prefix"), "prefix", &send.prefix, &names::PREFIXES)?;
    file.known(&place.key("instance"), "tenant", &send.instance, &names::INSTANCES)?;
    if let Some(body) = &send.body {
        marked(file, &place.key("body"), body, &send.op)?;
    }
    keys(file, place, send)?;
    file.at_most(&place.key("retry"), "retries", send.retry.as_ref().map_or(0, Vec::len), RETRIES_MAX)
}

/// A name that stands in a marker, an id and an expectation.
pub(super) fn op(file: &File<'_>, place: &Place, op: &str) -> Result<(), PlanError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !op.is_empty() && op.len() <= OP_BYTES_MAX && op.chars().all(fits) {
        return Ok(());
    }
    let help = format!("use 1 to {OP_BYTES_MAX} lower-case letters, digits and hyphens, such as `cart-7`");
    Err(file.mistake(place, format!("`{op}` cannot name an operation")).help(help))
}

/// The gateways that something goes to.
pub(super) fn via(
    file: &File<'_>,
    place: &Place,
    via: &[String],
    gateways: &[String],
) -> Result<(), PlanError> {
    if via.is_empty() {
        return Err(file
            .mistake(place, "`via` names no gateway")
            .help("leave it out to send to `gateway-1`"));
    }
    via.iter().enumerate().try_for_each(|(i, host)| file.known(&place.item(i), "gateway", host, gateways))
}

/// The first step of an operation says what is sent.
fn first(file: &File<'_>, place: &Place, send: &Send) -> Result<(), PlanError> {
    if send.body.is_some() {
        return Ok(());
    }
    for (field, value) in [("to", &send.to), ("text", &send.text)] {
        if value.as_ref().is_none_or(String::is_empty) {
            return Err(file
                .mistake(&place.key(field), format!("the first step of `{}` has no `{field}`", send.op))
                .help("the first step says what is sent; a repetition leaves `to` and `text` out"));
        }
    }
    Ok(())
}

/// Without its marker an effect could be attributed to no operation.
fn marked(file: &File<'_>, place: &Place, body: &str, op: &str) -> Result<(), PlanError> {
    let marker = format!("[{op}]");
    if body.contains(&marker) {
        return Ok(());
    }
    Err(file
        .mistake(place, format!("the body does not bear the marker of `{op}`"))
        .help(format!("end its text with `{marker}`")))
}

/// A request bears the key of its operation unless exactly one field says otherwise.
fn keys(file: &File<'_>, place: &Place, send: &Send) -> Result<(), PlanError> {
    let said = [("key", send.key.is_some()), ("key_of", send.key_of.is_some()), ("no_key", send.no_key)];
    let said: Vec<&str> = said.into_iter().filter_map(|(field, is_said)| is_said.then_some(field)).collect();
    if let [first, second, ..] = said[..] {
        return Err(file
            .mistaken_key(&place.key(second), format!("`{first}` and `{second}` contradict each other"))
            .help("a request bears one key, its own or another's, or none: leave one out"));
    }
    if send.second_key.is_some() && send.key.is_none() {
        return Err(file
            .mistaken_key(&place.key("second_key"), "there is a second key and no first")
            .help("add `key`: both headers are spelled out, or none"));
    }
    for (field, key) in [("key", &send.key), ("second_key", &send.second_key)] {
        if key.as_ref().is_some_and(|key| HeaderValue::from_bytes(key.as_bytes()).is_err()) {
            return Err(file
                .mistake(&place.key(field), format!("`{field}` is no header that HTTP can carry"))
                .help("a header holds no line feed and no other control character"));
        }
    }
    Ok(())
}

/// A file is uploaded where a route takes one, and only an upload can be cut.
fn upload(file: &File<'_>, place: &Place, send: &Send, first: Option<&Send>) -> Result<(), PlanError> {
    let has_file = send.file.is_some() || first.is_some_and(|first| first.file.is_some());
    if send.file.is_some() && !names::FILE_ROUTES.contains(&send.route.as_str()) {
        return Err(file
            .mistaken_key(&place.key("file"), format!("`{}` takes no file", send.route))
            .help(format!("a file goes to {}", meant::list(&names::FILE_ROUTES))));
    }
    if send.cut_upload && !has_file {
        return Err(file
            .mistaken_key(&place.key("cut_upload"), "there is no upload to cut")
            .help("add `file`, the content of one"));
    }
    Ok(())
}

/// A repetition sends the same content under the same key.
fn repetition(file: &File<'_>, place: &Place, send: &Send, first: &Send) -> Result<(), PlanError> {
    let fields = [
        ("route", &Some(send.route.clone()), &Some(first.route.clone())),
        ("to", &send.to, &first.to),
        ("text", &send.text, &first.text),
        ("key_of", &send.key_of, &first.key_of),
    ];
    for (field, here, there) in fields {
        if here.is_some() && here != there {
            return Err(file
                .mistake(&place.key(field), format!("a repetition of `{}` has another `{field}`", send.op))
                .help(format!(
                    "leave `{field}` out to repeat; for other content under the same key, \
                     name another `op` with `key_of = \"{}\"`",
                    send.op
                )));
        }
    }
    Ok(())
}

fn key_of(file: &File<'_>, place: &Place, send: &Send, ops: &BTreeSet<&str>) -> Result<(), PlanError> {
    let Some(other) = &send.key_of else {
        return Ok(());
    };
    if *other == send.op {
        return Err(file
            .mistake(place, format!("`{other}` uses its own key anyway"))
            .help("leave `key_of` out, or name the operation whose key is taken"));
    }
    file.known(place, "operation", other, &ops.iter().collect::<Vec<_>>())
}

fn answers(file: &File<'_>, answers: &[ScriptedAnswer]) -> Result<(), PlanError> {
    let place = Place::root().key("answer");
    file.at_most(&place, "scripted answers", answers.len(), ANSWERS_MAX)?;
    let mut seen = BTreeSet::new();
    for (i, answer) in answers.iter().enumerate() {
        let here = place.item(i);
        if answer.request == 0 {
            return Err(file
                .mistake(&here.key("request"), "requests at the provider are counted from 1")
                .help("write `request = 1` for the first"));
        }
        if !seen.insert(answer.request) {
            return Err(file
                .mistake(&here.key("request"), format!("request {} is answered twice", answer.request))
                .help("each request has one answer: leave one out"));
        }
        file.within(&here.key("status"), "the status", answer.status.into(), 200, 599)?;
        if let Some(after) = answer.after {
            file.lasts(&here.key("after"), "the pause before the answer", after)?;
            if after > THINKS_MAX {
                return Err(file
                    .mistake(&here.key("after"), format!("the provider thinks for {after}"))
                    .help(format!("it may think for up to {THINKS_MAX}")));
            }
        }
    }
    Ok(())
}
