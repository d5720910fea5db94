//! Checks of what is ordered of producers.

use std::collections::BTreeSet;

use super::{File, steps};
use crate::plan::places::Place;
use crate::plan::{KeysKind, Order, PRODUCER, PlanError, SECOND_PRODUCER, Scenario, Span};

pub(super) fn check(file: &File<'_>, scenario: &Scenario) -> Result<(), PlanError> {
    let sent: BTreeSet<&str> = scenario.sends().map(|send| send.op.as_str()).collect();
    for (i, step) in scenario.steps.iter().enumerate() {
        let Some(order) = &step.order else { continue };
        let here = Place::root().key("step").item(i).key("order");
        file.known(&here.key("producer"), "producer", &order.producer, &[PRODUCER, SECOND_PRODUCER])?;
        steps::op(file, &here.key("op"), &order.op)?;
        if sent.contains(order.op.as_str()) {
            return Err(file
                .mistake(&here.key("op"), format!("`{}` is sent and ordered", order.op))
                .help("a `send` keeps no book: name the order otherwise"));
        }
        match scenario.first_order(&order.op) {
            Some((first, _)) if !std::ptr::eq(first, order) => again(file, &here, order, first)?,
            _ => first(file, &here, scenario, order, step.at)?,
        }
    }
    Ok(())
}

/// The first step of an order says what it is.
fn first(
    file: &File<'_>,
    place: &Place,
    scenario: &Scenario,
    order: &Order,
    at: Span,
) -> Result<(), PlanError> {
    for (field, value) in [("to", &order.to), ("text", &order.text)] {
        if value.as_ref().is_none_or(String::is_empty) {
            return Err(file
                .mistake(&place.key(field), format!("the order `{}` has no `{field}`", order.op))
                .help(
                    "the first step says what is ordered; who orders it again leaves `to` and `text` out",
                ));
        }
    }
    keys(file, place, order)?;
    if order.event_time.is_some_and(|event_time| event_time > at) {
        return Err(file
            .mistake(&place.key("event_time"), "the event happens after it is ordered about")
            .help(format!("it may be up to {at}, when this step is done")));
    }
    let Some(setup) = &order.setup else { return Ok(()) };
    steps::op(file, &place.key("setup"), setup)?;
    let taken = scenario
        .orders()
        .any(|other| other.op == *setup || (other.op != order.op && other.setup.as_ref() == Some(setup)));
    if taken || scenario.first_send(setup).is_some() {
        return Err(file
            .mistake(&place.key("setup"), format!("`{setup}` is another operation already"))
            .help("the creation of the instance is an operation of its own: give it a name of its own"));
    }
    Ok(())
}

/// A key is about something, and only a deterministic one is.
fn keys(file: &File<'_>, place: &Place, order: &Order) -> Result<(), PlanError> {
    let facts = [
        ("event", order.event.is_some()),
        ("template", order.template.is_some()),
        ("event_time", order.event_time.is_some()),
    ];
    match order.keys.unwrap_or_default() {
        KeysKind::Random => match facts.into_iter().find(|(_, is_given)| *is_given) {
            Some((field, _)) => Err(file
                .mistaken_key(&place.key(field), format!("`{field}` says nothing beside random keys"))
                .help("add `keys = \"deterministic\"`, or leave it out")),
            None => Ok(()),
        },
        KeysKind::Deterministic if order.event.is_none() && order.template.is_none() => Err(file
            .mistake(&place.key("keys"), "the keys would be about nothing")
            .help("add `event`, such as `event = \"pedido-70\"`, or `template`, such as `template = \"RENOV_7D\"`")),
        KeysKind::Deterministic => Ok(()),
    }
}

/// The same operation is the same order.
fn again(file: &File<'_>, place: &Place, order: &Order, first: &Order) -> Result<(), PlanError> {
    let differs = [
        ("to", differs(&order.to, &first.to)),
        ("text", differs(&order.text, &first.text)),
        ("keys", differs(&order.keys, &first.keys)),
        ("event", differs(&order.event, &first.event)),
        ("template", differs(&order.template, &first.template)),
        ("event_time", differs(&order.event_time, &first.event_time)),
        ("setup", differs(&order.setup, &first.setup)),
    ];
    match differs.into_iter().find(|(_, differs)| *differs) {
        Some((field, _)) => Err(file
            .mistake(&place.key(field), format!("who orders `{}` again has another `{field}`", order.op))
            .help(format!("leave `{field}` out, or name another `op`: it is another order then"))),
        None => Ok(()),
    }
}

fn differs<T: PartialEq>(here: &Option<T>, there: &Option<T>) -> bool {
    here.is_some() && here != there
}
