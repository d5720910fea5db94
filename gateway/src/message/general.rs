//! `messages`: any type of WhatsApp message in WhatsApp's own words, `{"to", "type": kind, kind: …}`. Its shape is
//! checked, and it is passed on as it is.

use serde_json::Value;

use super::{MessageError, Order, check};

const TYPE: MessageError =
    MessageError { member: "type", expected: "text, image, video, audio, document, contacts or location" };

/// `{"to", "type", …}`, whose text has at most `longest` characters.
///
/// # Errors
/// [`MessageError`].
pub fn message(phone_number_id: &str, content: &Value, longest: usize) -> Result<Order, MessageError> {
    let to = check::to(content)?;
    let kind = content.get("type").and_then(Value::as_str).ok_or(TYPE)?;
    let object = content.get(kind).unwrap_or(&Value::Null);
    match kind {
        "text" => {
            check::text(object.get("body"), "text.body", longest)?;
        }
        "image" | "video" | "audio" | "document" => file(object)?,
        "contacts" => contacts(object)?,
        "location" => {
            check::coordinate(object, "latitude", 90.0)?;
            check::coordinate(object, "longitude", 180.0)?;
        }
        _ => return Err(TYPE),
    }
    Ok(Order::message(phone_number_id, to, kind, object.clone()))
}

/// A file is either at the provider already, or where the provider can fetch it.
fn file(object: &Value) -> Result<(), MessageError> {
    match (object.get("id"), object.get("link")) {
        (Some(id), None) => check::name(id, "id").map(drop),
        (None, _) => check::link(object, "link").map(drop),
        (Some(_), Some(_)) => Err(MessageError { member: "link", expected: "absent where there is an `id`" }),
    }
}

fn contacts(object: &Value) -> Result<(), MessageError> {
    let contacts = object.as_array().map(Vec::as_slice).unwrap_or_default();
    let are_named = contacts.iter().all(|contact| contact["name"]["formatted_name"].is_string());
    match !contacts.is_empty() && are_named {
        true => Ok(()),
        false => Err(MessageError { member: "contacts", expected: "a list of contacts with a name each" }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_type_has_its_shape() {
        for (kind, object, expected) in [
            ("text", json!({"body": "oi", "preview_url": true}), None),
            ("text", json!("oi"), Some("text.body")),
            ("image", json!({"link": "https://x/y.jpg", "caption": "z"}), None),
            ("audio", json!({"id": "media.1"}), None),
            ("video", json!({"id": "1", "link": "https://x"}), Some("link")),
            ("document", json!({"link": "file:///etc/passwd"}), Some("link")),
            ("document", json!(null), Some("link")),
            ("contacts", json!([{"name": {"formatted_name": "Ana"}}]), None),
            ("contacts", json!([]), Some("contacts")),
            ("contacts", json!([{"name": "Ana"}]), Some("contacts")),
            ("location", json!({"latitude": 1, "longitude": 2}), None),
            ("location", json!([]), Some("latitude")),
            ("sticker", json!({}), Some("type")),
            ("to", json!("5511999990001"), Some("type")),
        ] {
            let content = json!({"to": "5511999990001", "type": kind, kind: object});
            let found = message("1", &content, 4096).err().map(|error| error.member);
            assert_eq!(found, expected, "{content}");
        }
    }

    #[test]
    fn it_is_passed_on_as_it_is() {
        let content = json!({"to": "5511999990001", "type": "text", "text": {"body": "oi", "x": 1}, "y": 2});
        let body = message("1", &content, 4096).unwrap().outbound("ref", None).body;
        let expected = json!({
            "messaging_product": "whatsapp", "to": "5511999990001", "type": "text",
            "text": {"body": "oi", "x": 1}, "biz_opaque_callback_data": "ref",
        });
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
    }
}
