//! What is done about an event. It reads nothing but the job and does nothing itself: its effects are outbox rows in the
//! transaction that completes the job (W10), so that a job that runs twice acts once.

use serde_json::json;

use super::domain_key::domain_key;
use crate::{
    inbound::{Event, Message},
    store::{Done, Effect, EventKey, Slot},
};

/// What comes before a text that is answered.
const RECEIVED: &str = "Recebemos: ";

/// What is to be written for this event; an error is final, for it would be the same the next time.
pub(super) fn handle(key: &EventKey, payload: &str) -> Result<Done, String> {
    let event: Event = serde_json::from_str(payload).map_err(|error| format!("not an event: {error}"))?;
    Ok(match event {
        Event::Message(message) => Done { effects: vec![reply(key, &message)], status: None },
        Event::Status { update, reference: _ } => Done { effects: Vec::new(), status: Some(update) },
        Event::Other => Done::default(),
    })
}

fn reply(key: &EventKey, message: &Message) -> Effect {
    let EventKey { provider, endpoint: instance, event_id, item, subscriber } = key;
    let parts = [instance, &message.from, provider, event_id, item, subscriber];
    let text = format!("{RECEIVED}{}", message.text);
    Effect {
        id: format!("{provider}:{event_id}:{item}"),
        slot: Slot {
            scope: format!("{instance}/messages/text"),
            key: domain_key(&parts.map(String::as_str)),
        },
        content: json!({ "to": message.from, "text": text }).to_string(),
    }
}
