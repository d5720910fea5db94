//! Takes a delivery apart (W4): every entry, every change, every message and status, each on its own.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    Endpoint, Subscriber,
    event::{self, Event, Known},
};
use crate::{
    hex,
    store::{EventKey, Item},
};

/// The most jobs of one delivery: its transaction is one frame to the store.
pub(super) const MOST_ITEMS: usize = 5_000;

/// Why a delivery is refused whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum EnvelopeError {
    /// It is one event, and that is bad; or it is no envelope at all.
    #[error("{0}")]
    Bad(&'static str),
    /// It is over [`MOST_ITEMS`].
    #[error("a delivery has at most {MOST_ITEMS} items, counted for each subscriber")]
    TooMany,
}

/// The items of a delivery: a message once for each subscriber, anything else once. In a batch a bad one is dead on arrival; the only event of an envelope refuses it, and so does a
/// batch of nothing: a 200 would say that something is owned.
///
/// Where the provider echoes, a status that bears our reference is one more item, of that reference: the proof waits for
/// its record on its own, and the status does not wait with it.
pub(super) fn open(
    endpoint: &Endpoint,
    body: &Value,
    header: Option<&str>,
    is_echoing: bool,
) -> Result<Vec<Item>, EnvelopeError> {
    let items = match body {
        Value::Object(members) => match members.get("entry") {
            Some(Value::Array(entries)) => batch(endpoint, entries, is_echoing),
            Some(_) => return Err(EnvelopeError::Bad("`entry` is an array")),
            None => {
                let known = event::single(body, header).map_err(EnvelopeError::Bad)?;
                good(endpoint, known)
            }
        },
        _ => return Err(EnvelopeError::Bad("an event is a JSON object")),
    };
    match items.len() {
        0 => Err(EnvelopeError::Bad("a batch has an event")),
        1..=MOST_ITEMS => Ok(items),
        _ => Err(EnvelopeError::TooMany),
    }
}

fn batch(endpoint: &Endpoint, entries: &[Value], is_echoing: bool) -> Vec<Item> {
    let mut items = Vec::new();
    for entry in entries {
        match entry["changes"].as_array() {
            Some(changes) => {
                for change in changes {
                    take_change(endpoint, change, &mut items);
                    let statuses = change["value"]["statuses"].as_array().filter(|_| is_echoing);
                    let echoes = statuses.into_iter().flatten().filter_map(event::echo);
                    items.extend(echoes.flat_map(|known| good(endpoint, known)));
                }
            }
            None => items.push(bad(endpoint, entry, "an entry has an array of `changes`")),
        }
    }
    items
}

fn take_change(endpoint: &Endpoint, change: &Value, items: &mut Vec<Item>) {
    let value = &change["value"];
    let (messages, statuses) = (&value["messages"], &value["statuses"]);
    if messages.is_null() && statuses.is_null() {
        items.push(bad(endpoint, change, "a change has `value.messages` or `value.statuses`"));
    }
    take_all(endpoint, messages, event::message, items);
    take_all(endpoint, statuses, event::status, items);
}

fn take_all(
    endpoint: &Endpoint,
    values: &Value,
    read: fn(&Value) -> Result<Known, &'static str>,
    items: &mut Vec<Item>,
) {
    match values {
        Value::Null => {}
        Value::Array(values) => items.extend(values.iter().flat_map(|value| match read(value) {
            Ok(known) => good(endpoint, known),
            Err(why) => vec![bad(endpoint, value, why)],
        })),
        other => items.push(bad(endpoint, other, "`messages` and `statuses` are arrays")),
    }
}

fn good(endpoint: &Endpoint, Known { id, item, event }: Known) -> Vec<Item> {
    let item = |subscriber: &str, event: &Event| {
        let key = key(endpoint, id.clone(), item.clone(), subscriber);
        Item { key, payload: json!(event).to_string(), error: None }
    };
    match &event {
        Event::Message(message) => {
            let subscribers = endpoint.subscribers.iter();
            subscribers.map(|it| item(&it.name, &Event::Message(message.of(it)))).collect()
        }
        event => vec![item(Subscriber::GATEWAY, event)],
    }
}

/// A bad item is known by its content: redelivered, it is not a second dead letter (W3).
fn bad(endpoint: &Endpoint, value: &Value, why: &str) -> Item {
    let payload = value.to_string();
    let id = hex::encode(&Sha256::digest(&payload));
    Item { key: key(endpoint, id, "bad".into(), Subscriber::GATEWAY), payload, error: Some(why.to_owned()) }
}

fn key(endpoint: &Endpoint, event_id: String, item: String, subscriber: &str) -> EventKey {
    EventKey {
        provider: endpoint.provider.clone(),
        endpoint: endpoint.instance.clone(),
        event_id,
        item,
        subscriber: subscriber.into(),
    }
}
