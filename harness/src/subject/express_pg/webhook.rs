//! A webhook that is authentic.

use serde_json::Value;

/// An event, and the id that it is known by.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// `id`, `event_id` or `payload.id` (W3).
    pub id: String,
    /// All of it.
    pub event: Value,
}

impl Webhook {
    /// Of a body; none where there is no id. An id is sought at the top alone: Meta's envelope, whose ids stand with its
    /// messages, has none.
    pub fn of(event: Value) -> Option<Self> {
        let places = [&event["id"], &event["event_id"], &event["payload"]["id"]];
        let id = places.into_iter().find_map(truthy)?;
        Some(Self { id, event })
    }

    /// Who wrote.
    pub fn from(&self) -> &Value {
        &self.content()["from"]
    }

    /// What they wrote.
    pub fn text(&self) -> &str {
        let text = &self.content()["text"];
        text.as_str().or_else(|| text["body"].as_str()).unwrap_or_default()
    }

    fn content(&self) -> &Value {
        let payload = &self.event["payload"];
        if payload.is_object() { payload } else { &self.event }
    }
}

/// A value that JavaScript takes for true, as it writes it into a text.
fn truthy(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()).filter(|_| number.as_f64() != Some(0.0)),
        Value::Object(_) => Some("[object Object]".into()),
        Value::Bool(true) | Value::Array(_) => Some(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(event: Value) -> Option<String> {
        Webhook::of(event).map(|webhook| webhook.id)
    }

    #[test]
    fn an_id_has_three_places() {
        assert_eq!(id(json!({ "id": "a", "event_id": "b" })).as_deref(), Some("a"));
        assert_eq!(id(json!({ "id": "", "event_id": "b" })).as_deref(), Some("b"));
        assert_eq!(id(json!({ "id": null, "payload": { "id": 7 } })).as_deref(), Some("7"));
        for none in [json!({ "entry": [{ "id": "waba-1" }] }), json!({ "id": 0 }), json!([]), json!(null)] {
            assert_eq!(id(none.clone()), None, "{none}");
        }
    }

    #[test]
    fn what_was_written_stands_at_the_top_or_in_the_payload() {
        let of = |event| Webhook::of(event).expect("an id");
        let top = of(json!({ "id": "a", "from": "1", "text": "oi" }));
        assert_eq!((top.from(), top.text()), (&json!("1"), "oi"));
        let nested = of(json!({ "payload": { "id": "a", "from": "2", "text": { "body": "oi" } } }));
        assert_eq!((nested.from(), nested.text()), (&json!("2"), "oi"));
    }
}
