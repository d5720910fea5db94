//! Spoils the bytes of a true delivery.

use serde_json::{Value, json};

use crate::plan::Flaw;

const NESTED: usize = 1_000;
const HUGE_BYTES: usize = 10_000_000;

/// The body with this flaw in it.
pub fn spoilt(flaw: Flaw, body: &str) -> Vec<u8> {
    match flaw {
        Flaw::NotJson => body.as_bytes()[..body.len() / 2].to_vec(),
        Flaw::NotUtf8 => with_a_bad_byte(body),
        Flaw::Nested => {
            let (open, close) = ("[".repeat(NESTED), "]".repeat(NESTED));
            first_member(body, &format!("\"more\":{open}{close}"))
        }
        // JSON may begin with any number of spaces.
        Flaw::Huge => format!("{}{body}", " ".repeat(HUGE_BYTES - body.len())).into(),
        Flaw::DuplicateNames => {
            let value: Value = serde_json::from_str(body).unwrap_or_default();
            let name = if value["entry"].is_null() { "id" } else { "entry" };
            first_member(body, &format!("\"{name}\":null"))
        }
        Flaw::NulInId => body.replace("\"wamid.in.", "\"wamid.in\\u0000").into(),
        Flaw::NoId => {
            let mut value: Value = serde_json::from_str(body).unwrap_or_default();
            if let Some(members) = value.as_object_mut() {
                members.remove("id");
            }
            value.to_string().into()
        }
        Flaw::EmptyBatch => json!({ "object": "whatsapp_business_account", "entry": [] }).to_string().into(),
        Flaw::UnknownProvider => body.into(),
    }
}

/// Before the marker, so that the text is the event's.
fn with_a_bad_byte(body: &str) -> Vec<u8> {
    let mut bytes = body.as_bytes().to_vec();
    let marker = bytes.windows(2).position(|pair| pair == b" [").unwrap_or(0);
    bytes.insert(marker, 0xff);
    bytes
}

fn first_member(body: &str, member: &str) -> Vec<u8> {
    body.replacen('{', &format!("{{{member},"), 1).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUE: &str = r#"{"id":"wamid.in.oi-1","text":"Oi [oi-1]"}"#;

    #[test]
    fn a_flaw_is_what_it_says_and_leaves_the_rest() {
        let text = |flaw| String::from_utf8(spoilt(flaw, TRUE)).expect("text");
        assert!(std::str::from_utf8(&spoilt(Flaw::NotUtf8, TRUE)).is_err());
        assert_eq!(spoilt(Flaw::Huge, TRUE).len(), 10_000_000);
        assert_eq!(serde_json::from_str::<Value>(&text(Flaw::Huge)).ok(), serde_json::from_str(TRUE).ok());
        assert!(text(Flaw::NulInId).contains(r#""wamid.in\u0000oi-1""#));
        assert_eq!(text(Flaw::NoId), r#"{"text":"Oi [oi-1]"}"#);
        assert!(text(Flaw::DuplicateNames).starts_with(r#"{"id":null,"id":"wamid"#));
        assert_eq!(text(Flaw::Nested).matches('[').count(), 1_001);
        assert!(serde_json::from_str::<Value>(&text(Flaw::NotJson)).is_err());
        assert_eq!(text(Flaw::UnknownProvider), TRUE);
    }
}
