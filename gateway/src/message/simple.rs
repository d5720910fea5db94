//! The routes that carry no file: `messages/text`, `messages/contact`, `messages/location`.

use serde_json::{Value, json};

use super::{MessageError, Order, check};

/// `{"to", "text"}`, whose text has at most `longest` characters.
///
/// # Errors
/// [`MessageError`].
pub fn text(phone_number_id: &str, content: &Value, longest: usize) -> Result<Order, MessageError> {
    let to = check::to(content)?;
    let text = check::text(content.get("text"), "text", longest)?;
    Ok(Order::message(phone_number_id, to, "text", json!({ "body": text })))
}

/// `{"to", "contact": {"name", "phone"}}`.
///
/// # Errors
/// [`MessageError`].
pub fn contact(phone_number_id: &str, content: &Value) -> Result<Order, MessageError> {
    let to = check::to(content)?;
    let contact = &content["contact"];
    let name = check::name(&contact["name"], "contact.name")?;
    let phone = check::phone(contact, "contact.phone")?;
    let contacts = json!([{
        "name": { "formatted_name": name, "first_name": name },
        "phones": [{ "phone": phone }],
    }]);
    Ok(Order::message(phone_number_id, to, "contacts", contacts))
}

/// `{"to", "latitude", "longitude", "name"?, "address"?}`.
///
/// # Errors
/// [`MessageError`].
pub fn location(phone_number_id: &str, content: &Value) -> Result<Order, MessageError> {
    let to = check::to(content)?;
    let latitude = check::coordinate(content, "latitude", 90.0)?;
    let longitude = check::coordinate(content, "longitude", 180.0)?;
    let mut location = json!({ "latitude": latitude, "longitude": longitude });
    for member in ["name", "address"] {
        if let Some(text) = check::optional_name(content, member)? {
            location[member] = json!(text);
        }
    }
    Ok(Order::message(phone_number_id, to, "location", location))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TO: &str = "5511999990001";

    fn wrong(order: Result<Order, MessageError>) -> Option<&'static str> {
        order.err().map(|error| error.member)
    }

    #[test]
    fn a_text_needs_both_members_within_their_bounds() {
        for (content, expected) in [
            (json!({"to": TO, "text": "é".repeat(4096), "more": 1}), None),
            (json!(null), Some("to")),
            (json!({"to": 5_511_999_990_001_u64, "text": "x"}), Some("to")),
            (json!({"to": "+551199999", "text": "x"}), Some("to")),
            (json!({"to": "1234567", "text": "x"}), Some("to")),
            (json!({"to": "12345678"}), Some("text")),
            (json!({"to": "12345678", "text": ""}), Some("text")),
            (json!({"to": "12345678", "text": "x".repeat(4097)}), Some("text")),
        ] {
            assert_eq!(wrong(text("1", &content, 4096)), expected, "{content}");
        }
    }

    #[test]
    fn a_contact_has_a_name_and_a_number() {
        let ana = json!({"to": TO, "contact": {"name": "Ana", "phone": TO}});
        let outbound = contact("1", &ana).unwrap().outbound("ref", None);
        assert_eq!(outbound.path, "/1/messages");
        let body: Value = serde_json::from_str(&outbound.body).unwrap();
        assert_eq!(body["contacts"][0]["name"]["formatted_name"], "Ana");
        assert_eq!(body["contacts"][0]["phones"][0]["phone"], TO);
        assert_eq!(body["biz_opaque_callback_data"], "ref");
        assert_eq!(wrong(contact("1", &json!({"to": TO, "contact": "Ana"}))), Some("contact.name"));
        let nameless = json!({"to": TO, "contact": {"name": "Ana"}});
        assert_eq!(wrong(contact("1", &nameless)), Some("contact.phone"));
    }

    #[test]
    fn a_location_lies_on_the_globe() {
        for (content, expected) in [
            (json!({"to": TO, "latitude": -23.55, "longitude": -46.63, "name": "Sé"}), None),
            (json!({"to": TO, "latitude": 90, "longitude": -180}), None),
            (json!({"to": TO, "latitude": 90.1, "longitude": 0}), Some("latitude")),
            (json!({"to": TO, "latitude": 0, "longitude": "0"}), Some("longitude")),
            (json!({"to": TO, "latitude": 0, "longitude": 0, "name": ""}), Some("name")),
        ] {
            assert_eq!(wrong(location("1", &content)), expected, "{content}");
        }
    }
}
