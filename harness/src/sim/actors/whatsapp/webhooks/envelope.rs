//! What a webhook bears, as the provider spells it. The bytes of an event are the same at every delivery.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    plan::{Deliver, InboundEvent, MessageStatus, Scenario, SignatureScheme},
    sim::{actors::producer::TENANTS, marker::marked},
};

/// When everything happened, in seconds. Nothing is judged by it, and a redelivery has the same bytes.
const TIMESTAMP: &str = "1767225600";

/// The body of a delivery; altered, it claims to be about another operation, under the ids of the true one.
pub fn body(scenario: &Scenario, deliver: &Deliver, altered: bool) -> String {
    let spelled = deliver.body.as_ref().or_else(|| {
        let mut before = scenario.deliveries().filter(|before| before.op == deliver.op);
        before.find_map(|before| before.body.as_ref())
    });
    let events = scenario.events(deliver);
    match (spelled, deliver.scheme) {
        (Some(body), _) if altered => {
            body.replace(&marker(&deliver.op), &marker(&Deliver::forged(&deliver.op)))
        }
        (Some(body), _) => body.clone(),
        (None, scheme) if scheme.takes_batches() => batch(&events, altered).to_string(),
        (None, _) => events.first().map_or_else(|| json!({}), |event| lone(event, altered)).to_string(),
    }
}

fn marker(op: &str) -> String {
    format!("[{op}]")
}

/// The id of an event, which is its own at every delivery (W3).
fn id(op: &str) -> String {
    format!("wamid.in.{op}")
}

fn text(event: &InboundEvent, altered: bool) -> String {
    match altered {
        true => marked("pague agora", &Deliver::forged(&event.op)),
        false => marked(&event.text, &event.op),
    }
}

/// Events in Meta's envelope: by entry, and in it by change.
fn batch(events: &[InboundEvent], altered: bool) -> Value {
    let mut entries: BTreeMap<u32, BTreeMap<u32, Vec<Value>>> = BTreeMap::new();
    for event in events {
        let mut message = json!({
            "from": event.from,
            "timestamp": TIMESTAMP,
            "type": "text",
            "text": { "body": text(event, altered) },
        });
        if !event.poison {
            message["id"] = id(&event.op).into();
        }
        entries.entry(event.entry).or_default().entry(event.change).or_default().push(message);
    }
    let change = |messages: Vec<Value>| change(&json!({ "messages": messages }));
    let entry = |changes: BTreeMap<u32, Vec<Value>>| changes.into_values().map(change).collect::<Vec<_>>();
    envelope(entries.into_values().map(entry).collect())
}

/// How far a message has come.
pub fn status(message_id: &str, reference: Option<&str>, status: MessageStatus) -> String {
    let mut update = json!({ "id": message_id, "status": status.name(), "timestamp": TIMESTAMP });
    if let Some(reference) = reference {
        update["biz_opaque_callback_data"] = reference.into();
    }
    envelope(vec![vec![change(&json!({ "statuses": [update] }))]]).to_string()
}

fn envelope(entries: Vec<Vec<Value>>) -> Value {
    let entry = |(number, changes): (usize, Vec<Value>)| json!({ "id": format!("waba-{number}"), "changes": changes });
    let entries: Vec<Value> = (1..).zip(entries).map(entry).collect();
    json!({ "object": "whatsapp_business_account", "entry": entries })
}

fn change(value: &Value) -> Value {
    let mut value = value.clone();
    value["messaging_product"] = "whatsapp".into();
    value["metadata"] = json!({ "phone_number_id": TENANTS[0].phone_number_id });
    json!({ "field": "messages", "value": value })
}

/// An envelope of one event (W3).
fn lone(event: &InboundEvent, altered: bool) -> Value {
    json!({ "id": id(&event.op), "type": "message", "from": event.from, "text": text(event, altered) })
}

/// Where nobody listens.
pub const NOBODY: &str = "/webhooks/nobody";

/// Where deliveries of this scheme go.
pub fn path(scheme: SignatureScheme) -> &'static str {
    match scheme {
        SignatureScheme::Meta | SignatureScheme::XSignature => "/webhooks/whatsapp",
        SignatureScheme::Stripe => "/webhooks/stripe",
        SignatureScheme::Standard => "/webhooks/standard",
    }
}

/// What Standard Webhooks call the message: as stable as the event.
pub fn message_id(deliver: &Deliver) -> String {
    format!("msg_{}", deliver.op)
}
