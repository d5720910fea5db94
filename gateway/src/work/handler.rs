//! What is to be done about an event. This reads nothing but the job and does nothing itself: effects are outbox rows in the
//! transaction that completes the job (W10), so that a job that runs twice acts once.

use serde_json::json;

use crate::{
    domain_key::domain_key,
    inbound::{Event, Message},
    store::{Done, Effect, EventKey, Slot},
};

/// The keys of these sends: instance, sender, provider, event, item, subscriber.
const KEY_SCHEME: &str = "ev1";

/// What is to be done about an event.
pub(super) enum Plan {
    /// Write this.
    Write(Done),
    /// Settle the record of this reference, which is proved.
    Settle { reference: String, message_id: String },
}

/// The plan for this event; an error is final, for it would be the same the next time.
pub(super) fn plan(key: &EventKey, payload: &str) -> Result<Plan, String> {
    let event: Event = serde_json::from_str(payload).map_err(|error| format!("not an event: {error}"))?;
    Ok(match event {
        Event::Message(message) => Plan::Write(Done { effects: vec![write(key, &message)], status: None }),
        Event::Status(status) => Plan::Write(Done { effects: Vec::new(), status: Some(status) }),
        Event::Echo { reference, message_id } => Plan::Settle { reference, message_id },
        Event::Other => Plan::Write(Done::default()),
    })
}

fn write(key: &EventKey, message: &Message) -> Effect {
    let EventKey { provider, endpoint: instance, event_id, item, subscriber } = key;
    let parts = [instance, &message.from, provider, event_id, item, subscriber];
    let text = format!("{}{}", message.lead, message.text);
    let to = message.to.as_ref().unwrap_or(&message.from);
    Effect {
        id: format!("{provider}:{instance}:{event_id}:{item}:{subscriber}"),
        slot: Slot {
            scope: format!("{instance}/messages/text"),
            key: domain_key(KEY_SCHEME, &parts.map(String::as_str)),
        },
        content: json!({ "to": to, "text": text }).to_string(),
    }
}
