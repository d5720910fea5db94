//! What the plan's orders are, as a producer knows them.

use onceproof_gateway::producer::{Domain, Keys, Order, Step, Target};

use super::request::json_body;
use crate::{
    plan::{KeysKind, Scenario, Send},
    sim::{clock::wall_ms, stage::BOOT_MS},
};

/// The route of every message that is ordered.
const ROUTE: &str = "messages/text";
/// The tenant that sends what is ordered, unless the order sets an instance up.
const INSTANCE: &str = "loja-1";
/// What stands for the instance in the keys of an order that sets one up: nobody knows its id yet.
const ACCOUNT: &str = "account";

/// The order of this operation, as the first step that names it says.
pub fn order(scenario: &Scenario, op: &str) -> Option<Order> {
    let (first, at) = scenario.first_order(op)?;
    let (to, text) = (first.to.clone().unwrap_or_default(), first.text.clone().unwrap_or_default());
    let instance = if first.setup.is_some() { ACCOUNT } else { INSTANCE };
    let event_time_ms = BOOT_MS + first.event_time.unwrap_or(at).ms();
    let keys = match first.keys.unwrap_or_default() {
        KeysKind::Random => Keys::Random,
        KeysKind::Deterministic => Keys::Deterministic(Domain {
            instance: instance.into(),
            recipient: to.clone(),
            event: first.event.clone(),
            template: first.template.clone(),
            event_ms: wall_ms(event_time_ms),
        }),
    };
    let content =
        |op: &str, route: &str| json_body(&Send { route: route.into(), ..Send::new(op, &to, &text) });
    let route = ROUTE.to_owned();
    let message = content(&first.op, ROUTE);
    let steps = match &first.setup {
        None => vec![Step { target: Target::Of { instance: instance.into(), route }, content: message }],
        Some(setup) => vec![
            Step { target: Target::NewInstance, content: content(setup, "instances") },
            Step { target: Target::OfCreated { step: 0, route }, content: message },
        ],
    };
    Some(Order { id: op.into(), keys, steps })
}

/// The operation of one step of an order.
pub fn step_op(scenario: &Scenario, order: &str, step: usize) -> String {
    let op = scenario.first_order(order).and_then(|(order, _)| order.ops().nth(step));
    op.map_or(order, String::as_str).to_owned()
}
