//! Checks of what the sender of webhooks delivers.

use std::collections::BTreeSet;

use super::{File, steps};
use crate::plan::places::Place;
use crate::plan::{BatchItem, Deliver, DeliverStatus, PlanError, Scenario, SignatureKind, Span, names};
use crate::subject::zap;

const ITEMS_MAX: usize = 1_000;
const EVENTS_MAX: usize = 5_000;
const TIMES_MAX: usize = 1_000;
const DELIVERIES_MAX: usize = 10_000;
const RETRIES_MAX: usize = 100;
const PLACES_MAX: usize = 1_000;

/// What is true of how a webhook is delivered, whatever it bears.
struct Delivery<'a> {
    times: u32,
    via: &'a [String],
    timeout: Span,
    retry: &'a [Span],
}

/// Refuses what is too much, before anything is made of it.
pub(super) fn limits(file: &File<'_>, scenario: &Scenario) -> Result<(), PlanError> {
    let (mut events, mut deliveries) = (0, 0);
    for (place, deliver) in places(scenario) {
        file.at_most(&place.key("items"), "items", deliver.items.len(), ITEMS_MAX)?;
        for (i, item) in deliver.items.iter().enumerate() {
            let here = place.key("items").item(i);
            let count = item.count.map_or(1, |count| count as usize);
            file.within(&here.key("count"), "`count`", count, 1, EVENTS_MAX)?;
            events += count;
        }
        file.at_most(&place, "events", events, EVENTS_MAX)?;
        file.within(&place.key("times"), "`times`", deliver.times as usize, 1, TIMES_MAX)?;
        deliveries += deliver.times as usize;
        file.at_most(&place, "deliveries", deliveries, DELIVERIES_MAX)?;
    }
    Ok(())
}

pub(super) fn check(file: &File<'_>, scenario: &Scenario, gateways: &[String]) -> Result<(), PlanError> {
    let plays_zap = scenario.world.profiles.iter().any(|profile| profile == names::ZAP);
    let sent: BTreeSet<&str> = scenario.sends().map(|send| send.op.as_str()).collect();
    for (index, (place, deliver)) in places(scenario).enumerate() {
        let Deliver { times, ref via, timeout, ref retry, .. } = *deliver;
        how(file, &place, &Delivery { times, via, timeout, retry }, gateways)?;
        op(file, &place.key("op"), &deliver.op, &sent)?;
        for (i, item) in deliver.items.iter().enumerate() {
            self::item(file, &place.key("items").item(i), item, &sent)?;
        }
        shape(file, &place, deliver)?;
        if plays_zap {
            readable(file, &place, deliver)?;
        }
        match scenario.deliveries().take(index).find(|first| first.op == deliver.op) {
            Some(first) => again(file, &place, deliver, first)?,
            None => first(file, &place, scenario, deliver)?,
        }
    }
    let (ops, events) = (scenario.ops(), scenario.event_ops());
    for (i, step) in scenario.steps.iter().enumerate() {
        if let Some(redrive) = &step.redrive {
            let here = Place::root().key("step").item(i).key("redrive");
            if plays_zap {
                let message = format!("`{}` has no dead letters to bring back", names::ZAP);
                return Err(file.mistaken_key(&here, message).help("leave the profile out"));
            }
            file.known(&here.key("op"), "event", &redrive.op, &events.iter().collect::<Vec<_>>())?;
            file.known(&here.key("via"), "gateway", &redrive.via, gateways)?;
            file.within(&here.key("times"), "`times`", redrive.times as usize, 1, TIMES_MAX)?;
        }
        if let Some(DeliverStatus { of, times, via, timeout, retry, .. }) = &step.status {
            let here = Place::root().key("step").item(i).key("status");
            file.known(&here.key("of"), "operation", of, &ops.iter().collect::<Vec<_>>())?;
            how(file, &here, &Delivery { times: *times, via, timeout: *timeout, retry }, gateways)?;
        }
    }
    Ok(())
}

/// Every delivery of events, and its place.
fn places(scenario: &Scenario) -> impl Iterator<Item = (Place, &Deliver)> {
    let steps = Place::root().key("step");
    let numbered = scenario.steps.iter().enumerate();
    numbered.filter_map(move |(i, step)| Some((steps.item(i).key("deliver"), step.deliver.as_ref()?)))
}

fn how(file: &File<'_>, place: &Place, how: &Delivery<'_>, gateways: &[String]) -> Result<(), PlanError> {
    file.within(&place.key("times"), "`times`", how.times as usize, 1, TIMES_MAX)?;
    steps::via(file, &place.key("via"), how.via, gateways)?;
    file.lasts(&place.key("timeout"), "an attempt of the sender", how.timeout)?;
    file.at_most(&place.key("retry"), "retries", how.retry.len(), RETRIES_MAX)
}

/// An effect belongs to one operation: what is sent and what is answered cannot share a name.
fn op(file: &File<'_>, place: &Place, op: &str, sent: &BTreeSet<&str>) -> Result<(), PlanError> {
    steps::op(file, place, op)?;
    if sent.contains(op) {
        return Err(file
            .mistake(place, format!("`{op}` is sent by a producer and cannot be delivered too"))
            .help("an event has a name of its own; what a message came to is a `status`"));
    }
    Ok(())
}

fn item(file: &File<'_>, place: &Place, item: &BatchItem, sent: &BTreeSet<&str>) -> Result<(), PlanError> {
    op(file, &place.key("op"), &item.op, sent)?;
    file.within(&place.key("entry"), "the number of the entry", item.entry as usize, 1, PLACES_MAX)?;
    file.within(&place.key("change"), "the number of the change", item.change as usize, 1, PLACES_MAX)
}

/// What contradicts itself within one delivery.
fn shape(file: &File<'_>, place: &Place, deliver: &Deliver) -> Result<(), PlanError> {
    let is_batch = !deliver.items.is_empty();
    if is_batch && !deliver.scheme.takes_batches() {
        return Err(file
            .mistaken_key(&place.key("items"), "this scheme's envelope holds one event")
            .help("a batch has the scheme `meta`"));
    }
    let beside = [
        ("from", deliver.from.is_some()),
        ("text", deliver.text.is_some()),
        ("body", deliver.body.is_some()),
    ];
    if let Some((field, _)) = beside.into_iter().find(|(_, said)| *said && is_batch) {
        return Err(file
            .mistaken_key(&place.key(field), format!("`{field}` and `items` contradict each other"))
            .help("the items of a batch say what it bears: leave one out"));
    }
    let altered = deliver.signature == SignatureKind::AlteredBody;
    let marker = format!("[{}]", deliver.op);
    if altered && deliver.body.as_ref().is_some_and(|body| !body.contains(&marker)) {
        return Err(file
            .mistake(&place.key("body"), "there is nothing in this body that could be altered")
            .help(format!("put the marker `{marker}` in it")));
    }
    Ok(())
}

/// Text B's receiver knows one route and one envelope.
fn readable(file: &File<'_>, place: &Place, deliver: &Deliver) -> Result<(), PlanError> {
    if zap::can_read(deliver) {
        return Ok(());
    }
    let field = [("items", !deliver.items.is_empty()), ("body", deliver.body.is_some())];
    let field = field.into_iter().find(|(_, said)| *said).map_or("scheme", |(field, _)| field);
    Err(file
        .mistaken_key(&place.key(field), format!("`{}` cannot read this `{field}`", names::ZAP))
        .help("it reads one event at a time, with its id at the top: leave `items`, `body` and `scheme` out, say `scheme = \"stripe\"`, or leave the profile out"))
}

/// The first step that names an event says who wrote, and what.
fn first(file: &File<'_>, place: &Place, scenario: &Scenario, deliver: &Deliver) -> Result<(), PlanError> {
    if deliver.body.is_some() {
        return Ok(());
    }
    let help = "the first step says who wrote and what; a redelivery leaves `from` and `text` out";
    for event in scenario.events(deliver) {
        for (field, value) in [("from", &event.from), ("text", &event.text)] {
            if value.is_empty() {
                let message = format!("the first step of `{}` has no `{field}`", event.op);
                return Err(file.mistake(&place.key(field), message).help(help));
            }
        }
    }
    Ok(())
}

/// A redelivery bears the same, to the byte.
fn again(file: &File<'_>, place: &Place, deliver: &Deliver, first: &Deliver) -> Result<(), PlanError> {
    let same = [
        ("from", deliver.from.is_none() || deliver.from == first.from),
        ("text", deliver.text.is_none() || deliver.text == first.text),
        ("body", deliver.body.is_none() || deliver.body == first.body),
        ("items", deliver.items.is_empty() || deliver.items == first.items),
        ("scheme", deliver.scheme == first.scheme),
    ];
    match same.into_iter().find(|(_, same)| !same) {
        None => Ok(()),
        Some((field, _)) => Err(file
            .mistake(&place.key(field), format!("a redelivery of `{}` has another `{field}`", deliver.op))
            .help("a redelivery bears the same: leave it as it was, or name another `op`")),
    }
}
