//! Checks of what strikes.

use std::collections::BTreeSet;

use super::{File, policy, redis_faults};
use crate::plan::places::Place;
use crate::plan::{Fault, PlanError, Scenario, Span, Step, Trigger, Vary, meant, names};
use crate::sim::actors::{producer, whatsapp};

const FAULTS_MAX: usize = 1_000;
const COMMITS_MAX: usize = 1_000_000;

/// The actions, of which a fault has exactly one.
const ACTIONS: [&str; 14] = [
    "cut",
    "slow",
    "lose",
    "delay",
    "crash",
    "freeze",
    "refuse",
    "clock",
    "lose_commits",
    "empty",
    "evict",
    "refuse_writes",
    "lose_last",
    "fail_over",
];

/// What only says something beside one of these actions.
const DETAILS: [(&str, &[&str]); 8] = [
    ("mode", &["cut"]),
    ("by", &["delay", "slow"]),
    ("silent", &["crash"]),
    ("restart", &["crash"]),
    ("upgrade", &["crash"]),
    ("thaw", &["freeze"]),
    ("offset", &["clock"]),
    ("heal", &["cut", "slow", "refuse", "clock", "refuse_writes"]),
];

/// What the faults of a scenario may name.
struct Known {
    ops: BTreeSet<String>,
    /// The hosts whose steps have to end.
    actors: Vec<&'static str>,
    hosts: Vec<String>,
    gateways: Vec<String>,
    points: Vec<&'static str>,
}

pub(super) fn check(file: &File<'_>, scenario: &Scenario) -> Result<(), PlanError> {
    let place = Place::root().key("fault");
    file.at_most(&place, "faults", scenario.faults.len(), FAULTS_MAX)?;
    let most = scenario.vary.gateways.iter().copied().max().unwrap_or(0);
    let gateways = scenario.world.gateways.max(most);
    let known = Known {
        ops: scenario.ops(),
        actors: actors(scenario),
        hosts: names::hosts(gateways, scenario.needs_redis()),
        gateways: names::gateways(gateways),
        points: names::points(!scenario.vary.points.is_empty()),
    };
    vary(file, &scenario.vary)?;
    for (i, fault) in scenario.faults.iter().enumerate() {
        let here = place.item(i);
        let action = action(file, &here, fault)?;
        details(file, &here, fault, action)?;
        when(file, &here, fault, action)?;
        if let Some(trigger) = &fault.when {
            self::trigger(file, &here.key("when"), trigger, &known)?;
        }
        hosts(file, &here, fault, &known)?;
        lengths(file, &here, fault)?;
        amounts(file, &here, fault)?;
        redis_faults::check(file, &here, fault, scenario.needs_redis())?;
    }
    Ok(())
}

/// What placeholders stand for.
fn vary(file: &File<'_>, vary: &Vary) -> Result<(), PlanError> {
    let place = Place::root().key("vary");
    for (i, point) in vary.points.iter().enumerate() {
        file.known(&place.key("points").item(i), "point", point, &names::points(false))?;
    }
    for (i, gateways) in vary.gateways.iter().enumerate() {
        let here = place.key("gateways").item(i);
        file.within(&here, "the number of gateways", *gateways as usize, 1, 8)?;
    }
    for (i, nth) in vary.messages.iter().enumerate() {
        file.within(&place.key("messages").item(i), "the number of a message", *nth as usize, 1, 1_000)?;
    }
    Ok(())
}

/// The one action of a fault.
fn action(file: &File<'_>, place: &Place, fault: &Fault) -> Result<&'static str, PlanError> {
    let given: Vec<&'static str> = ACTIONS.into_iter().filter(|name| has(fault, name)).collect();
    match given[..] {
        [action] => Ok(action),
        [] => Err(file
            .mistake(place, "the fault does nothing")
            .help(format!("say what strikes: one of {}", meant::list(&ACTIONS)))),
        [first, second, ..] => Err(file
            .mistaken_key(&place.key(second), format!("the fault does two things, `{first}` and `{second}`"))
            .help("write a [[fault]] for each")),
    }
}

/// A detail without its action would be silently ignored.
fn details(file: &File<'_>, place: &Place, fault: &Fault, action: &str) -> Result<(), PlanError> {
    for (detail, actions) in DETAILS {
        if has(fault, detail) && !actions.contains(&action) {
            return Err(file
                .mistaken_key(&place.key(detail), format!("`{detail}` says nothing beside `{action}`"))
                .help(format!("it belongs to {}", meant::list(actions))));
        }
    }
    if matches!(action, "delay" | "slow") && fault.by.is_none() {
        return Err(file
            .mistaken_key(&place.key(action), "the delay does not say how long")
            .help("add `by`, such as `by = \"40s\"`"));
    }
    if action == "clock" && fault.offset.is_none() {
        return Err(file
            .mistaken_key(&place.key("clock"), "the clock is not said to be off")
            .help("add `offset`, such as `offset = \"+5m\"`"));
    }
    Ok(())
}

/// A lost or delayed message is its own trigger; everything else has exactly one.
fn when(file: &File<'_>, place: &Place, fault: &Fault, action: &str) -> Result<(), PlanError> {
    match (matches!(action, "lose" | "delay"), fault.at, &fault.when) {
        (true, None, None) | (false, Some(_), None) | (false, None, Some(_)) => Ok(()),
        (true, at, _) => {
            let key = if at.is_some() { "at" } else { "when" };
            Err(file
                .mistaken_key(&place.key(key), format!("`{key}` says nothing beside `{action}`"))
                .help("the message says when: leave the trigger out"))
        }
        (false, None, None) => Err(file
            .mistaken_key(&place.key(action), "the fault has no trigger")
            .help("add `at`, such as `at = \"2s\"`, or `when`, such as `when = { point = \"after-mark\" }`")),
        (false, Some(_), Some(_)) => Err(file
            .mistaken_key(&place.key("when"), "the fault has two triggers, `at` and `when`")
            .help("leave one out")),
    }
}

fn trigger(file: &File<'_>, place: &Place, trigger: &Trigger, known: &Known) -> Result<(), PlanError> {
    let given = [trigger.effect.is_some(), trigger.point.is_some(), trigger.message.is_some()];
    if given.into_iter().filter(|given| *given).count() != 1 {
        return Err(file
            .mistake(place, "a trigger waits for exactly one thing")
            .help("give one of `effect`, `point` and `message`"));
    }
    if let Some(op) = &trigger.effect {
        file.known(&place.key("effect"), "operation", op, &known.ops.iter().collect::<Vec<_>>())?;
    }
    if let Some(point) = &trigger.point {
        file.known(&place.key("point"), "point", point, &known.points)?;
    }
    if let Some(message) = &trigger.message {
        link(file, &place.key("message"), &message.from, &message.to, known)?;
    }
    if let Some(host) = &trigger.host {
        beside(file, &place.key("host"), "host", trigger.point.is_some(), "`point`")?;
        file.known(&place.key("host"), "gateway", host, &known.gateways)?;
    }
    if let Some(nth) = trigger.nth {
        beside(file, &place.key("nth"), "nth", trigger.message.is_none(), "`effect` and `point`")?;
        if nth == 0 {
            return Err(file
                .mistake(&place.key("nth"), "occurrences are counted from 1")
                .help("write `nth = 1` for the first"));
        }
    }
    Ok(())
}

/// Refuses a field that says nothing where it stands.
fn beside(file: &File<'_>, place: &Place, field: &str, fits: bool, owners: &str) -> Result<(), PlanError> {
    if fits {
        return Ok(());
    }
    Err(file
        .mistaken_key(place, format!("`{field}` says nothing here"))
        .help(format!("it belongs to {owners}")))
}

/// Who does the steps.
fn actors(scenario: &Scenario) -> Vec<&'static str> {
    let delivers = scenario.steps.iter().any(Step::is_delivery);
    std::iter::once(producer::HOST).chain(delivers.then_some(whatsapp::HOST)).collect()
}

/// A producer, or a sender of webhooks, that never comes back never ends its steps, and everything waits for these.
fn actor(file: &File<'_>, place: &Place, fault: &Fault, known: &Known) -> Result<(), PlanError> {
    let actor = |host: &Option<String>| host.clone().filter(|host| known.actors.contains(&host.as_str()));
    let called = |host: &str| match host {
        producer::HOST => "the producer",
        _ => "the sender of webhooks",
    };
    if let Some(host) = actor(&fault.crash) {
        let message = format!("{} cannot crash: its steps would never end", called(&host));
        return Err(file
            .mistake(&place.key("crash"), message)
            .help(format!("crash a gateway, or cut its link, such as `cut = \"{host} <-> gateway-1\"`")));
    }
    if let (Some(host), None) = (actor(&fault.freeze), fault.thaw) {
        let message = format!("{} freezes for good: its steps would never end", called(&host));
        return Err(file.mistake(&place.key("freeze"), message).help("add `thaw`, such as `thaw = \"40s\"`"));
    }
    Ok(())
}

/// How much a fault does, where that is a number or a table.
fn amounts(file: &File<'_>, place: &Place, fault: &Fault) -> Result<(), PlanError> {
    if let Some(commits) = fault.lose_commits {
        let commits = usize::try_from(commits).unwrap_or(usize::MAX);
        file.within(&place.key("lose_commits"), "the number of lost commits", commits, 1, COMMITS_MAX)?;
    }
    match &fault.upgrade {
        Some(fields) => policy::check(file, &place.key("upgrade"), fields),
        None => Ok(()),
    }
}

fn hosts(file: &File<'_>, place: &Place, fault: &Fault, known: &Known) -> Result<(), PlanError> {
    actor(file, place, fault, known)?;
    for (field, cut) in [("cut", &fault.cut), ("slow", &fault.slow)] {
        if let Some(cut) = cut {
            link(file, &place.key(field), &cut.from, &cut.to, known)?;
        }
    }
    if let Some(host) = &fault.clock {
        file.known(&place.key("clock"), "gateway", host, &known.gateways)?;
    }
    for (field, message) in [("lose", &fault.lose), ("delay", &fault.delay)] {
        if let Some(message) = message {
            link(file, &place.key(field), &message.from, &message.to, known)?;
        }
    }
    for (field, host) in [("crash", &fault.crash), ("freeze", &fault.freeze), ("refuse", &fault.refuse)] {
        if let Some(host) = host {
            file.known(&place.key(field), "host", host, &known.hosts)?;
        }
    }
    Ok(())
}

fn link(file: &File<'_>, place: &Place, from: &str, to: &str, known: &Known) -> Result<(), PlanError> {
    for host in [from, to] {
        file.known(place, "host", host, &known.hosts)?;
    }
    if from == to {
        return Err(file
            .mistake(place, format!("`{from}` has no link to itself"))
            .help("a link joins two hosts"));
    }
    Ok(())
}

fn lengths(file: &File<'_>, place: &Place, fault: &Fault) -> Result<(), PlanError> {
    let lengths: [(&str, Option<Span>); 3] = [("by", fault.by), ("thaw", fault.thaw), ("heal", fault.heal)];
    for (field, span) in lengths {
        if let Some(span) = span {
            file.lasts(&place.key(field), "the fault", span)?;
        }
    }
    Ok(())
}

/// Whether a fault has this field.
fn has(fault: &Fault, field: &str) -> bool {
    match field {
        "cut" => fault.cut.is_some(),
        "slow" => fault.slow.is_some(),
        "clock" => fault.clock.is_some(),
        "empty" => fault.empty.is_some(),
        "evict" => fault.evict.is_some(),
        "refuse_writes" => fault.refuse_writes.is_some(),
        "lose_last" => fault.lose_last.is_some(),
        "fail_over" => fault.fail_over.is_some(),
        "offset" => fault.offset.is_some(),
        "lose_commits" => fault.lose_commits.is_some(),
        "upgrade" => fault.upgrade.is_some(),
        "lose" => fault.lose.is_some(),
        "delay" => fault.delay.is_some(),
        "crash" => fault.crash.is_some(),
        "freeze" => fault.freeze.is_some(),
        "refuse" => fault.refuse.is_some(),
        "mode" => fault.mode.is_some(),
        "by" => fault.by.is_some(),
        "silent" => fault.silent.is_some(),
        "restart" => fault.restart.is_some(),
        "thaw" => fault.thaw.is_some(),
        "heal" => fault.heal.is_some(),
        _ => false,
    }
}
