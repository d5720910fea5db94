//! One item of a delivery: what the receiver takes out of the envelope, and the worker reads again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Subscriber,
    subscriber::{is_received, received},
};
use crate::store::{Delivery, StatusUpdate};

/// The longest id, in bytes.
const MAX_ID: usize = 255;

/// What a worker acts on. This is a job's payload: what is read at the receiver is what is acted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// Somebody wrote.
    Message(Message),
    /// A message of ours has come further (W11).
    Status(StatusUpdate),
    /// A provider gave our reference back: it has the message.
    Echo {
        /// Our reference.
        reference: String,
        /// The provider's id of the message.
        message_id: String,
    },
    /// Nothing that is answered.
    Other,
}

/// A message to us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// Whose.
    pub(crate) from: String,
    /// Its text.
    pub(crate) text: String,
    /// Whom the subscriber writes to, where it is not whoever wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
    /// What the subscriber writes before the text.
    #[serde(default = "received", skip_serializing_if = "is_received")]
    pub(crate) lead: String,
}

impl Message {
    fn new(from: &str, text: &str) -> Self {
        Self { from: from.to_owned(), text: text.to_owned(), to: None, lead: received() }
    }

    /// As this subscriber acts on it. What it does is written down with the event: a release in which it does something
    /// else changes nothing about what was owned before.
    pub(super) fn of(&self, subscriber: &Subscriber) -> Self {
        Self { to: subscriber.to.clone(), lead: subscriber.lead.clone(), ..self.clone() }
    }
}

/// An event and the id under which it is known.
pub(super) struct Known {
    pub(super) id: String,
    pub(super) item: String,
    pub(super) event: Event,
}

/// An item of `messages[]`.
pub(super) fn message(value: &Value) -> Result<Known, &'static str> {
    let id = id_of(&value["id"])?;
    let event = match (value["from"].as_str(), &value["text"]) {
        (Some(_), text) if value["type"] == "text" && text["body"].as_str().is_none() => {
            return Err("a message of type `text` has a `text.body`");
        }
        (Some(from), text) => match text["body"].as_str() {
            Some(text) => Event::Message(Message::new(from, text)),
            None => Event::Other,
        },
        (None, _) => return Err("a message says whom it is `from`"),
    };
    Ok(Known { id, item: "message".into(), event })
}

/// An item of `statuses[]`: the same status of the same message is the same event (W11).
pub(super) fn status(value: &Value) -> Result<Known, &'static str> {
    let id = id_of(&value["id"])?;
    let delivery = Delivery::deserialize(&value["status"]);
    let delivery = delivery.map_err(|_| "a status is `sent`, `delivered`, `read` or `failed`")?;
    let item = format!("status/{}", value["status"].as_str().unwrap_or_default());
    let event = Event::Status(StatusUpdate { message_id: id.clone(), delivery });
    Ok(Known { id, item, event })
}

/// What a good status proves besides, where it bears our reference. Of a message whose delivery failed nothing is proved
/// that a repetition should be told as a success.
pub(super) fn echo(value: &Value) -> Option<Known> {
    let reference = id_of(&value["biz_opaque_callback_data"]).ok()?;
    match status(value).ok()?.event {
        Event::Status(StatusUpdate { message_id, delivery }) if delivery != Delivery::Failed => {
            let event = Event::Echo { reference: reference.clone(), message_id };
            Some(Known { id: reference, item: "echo".into(), event })
        }
        _ => None,
    }
}

/// An envelope of one event (W3), whose id may stand in a header that is signed.
pub(super) fn single(value: &Value, header: Option<&str>) -> Result<Known, &'static str> {
    let payload = &value["payload"];
    let places = [&value["id"], &value["event_id"], &payload["id"]];
    let id = match (places.into_iter().find(|place| !place.is_null()), header) {
        (Some(id), _) => id_of(id)?,
        (None, Some(id)) => id_of(&Value::from(id))?,
        (None, None) => return Err("an event has an `id`, an `event_id` or a `payload.id`"),
    };
    let body = if payload.is_object() { payload } else { value };
    let text = body["text"].as_str().or_else(|| body["text"]["body"].as_str());
    let event = match (body["from"].as_str(), text) {
        (Some(from), Some(text)) => Event::Message(Message::new(from, text)),
        _ => Event::Other,
    };
    Ok(Known { id, item: "event".into(), event })
}

/// A string or a whole number, as text that every store keeps as it is.
fn id_of(value: &Value) -> Result<String, &'static str> {
    let id = match value {
        Value::String(id) => id.clone(),
        Value::Number(id) if id.is_i64() || id.is_u64() => id.to_string(),
        _ => return Err("an id is a string"),
    };
    match id.len() {
        1..=MAX_ID if !id.contains('\0') => Ok(id),
        _ => Err("an id has 1 to 255 bytes, none of which is NUL"),
    }
}
