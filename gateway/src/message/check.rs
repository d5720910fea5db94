//! Reads single members. Members that nobody reads are left alone.

use serde_json::Value;

use super::MessageError;

/// The longest link, in bytes.
const MAX_LINK: usize = 2048;

/// The longest name, in characters: of a place, a contact, a file, an instance.
const MAX_NAME_CHARACTERS: usize = 240;

/// The longest caption, in characters.
const MAX_CAPTION_CHARACTERS: usize = 1024;

const TO: MessageError = MessageError { member: "to", expected: "a string of 8 to 15 digits" };

/// The recipient.
pub(super) fn to(content: &Value) -> Result<&str, MessageError> {
    content.get("to").and_then(Value::as_str).filter(|to| is_number(to)).ok_or(TO)
}

/// A telephone number of somebody else than the recipient.
pub(super) fn phone<'a>(content: &'a Value, member: &'static str) -> Result<&'a str, MessageError> {
    let phone = content["phone"].as_str().filter(|phone| is_number(phone));
    phone.ok_or(MessageError { member, ..TO })
}

/// What is said.
pub(super) fn text<'a>(
    text: Option<&'a Value>,
    member: &'static str,
    longest: usize,
) -> Result<&'a str, MessageError> {
    let text = text.and_then(Value::as_str).filter(|text| has_length(text, longest));
    text.ok_or(MessageError { member, expected: "a string that is neither empty nor too long" })
}

/// A name that has to be there.
pub(super) fn name<'a>(name: &'a Value, member: &'static str) -> Result<&'a str, MessageError> {
    let name = name.as_str().filter(|name| has_length(name, MAX_NAME_CHARACTERS));
    name.ok_or(MessageError { member, expected: "a string of 1 to 240 characters" })
}

/// A name that may be absent.
pub(super) fn optional_name<'a>(
    content: &'a Value,
    member: &'static str,
) -> Result<Option<&'a str>, MessageError> {
    content.get(member).map(|value| name(value, member)).transpose()
}

/// A caption that may be absent, or empty.
pub(super) fn optional_caption(content: &Value) -> Result<Option<&str>, MessageError> {
    let Some(caption) = content.get("caption") else {
        return Ok(None);
    };
    let fits = |text: &&str| text.chars().count() <= MAX_CAPTION_CHARACTERS;
    let caption = caption.as_str().filter(fits);
    caption
        .map(Some)
        .ok_or(MessageError { member: "caption", expected: "a string of at most 1024 characters" })
}

/// Where the provider fetches a file.
pub(super) fn link<'a>(content: &'a Value, member: &'static str) -> Result<&'a str, MessageError> {
    let is_link =
        |link: &&str| link.len() <= MAX_LINK && (link.starts_with("https://") || link.starts_with("http://"));
    let link = content.get(member).and_then(Value::as_str).filter(is_link);
    link.ok_or(MessageError { member, expected: "an http or https link of at most 2048 bytes" })
}

/// A coordinate, which lies between `-bound` and `bound`.
pub(super) fn coordinate<'a>(
    content: &'a Value,
    member: &'static str,
    bound: f64,
) -> Result<&'a Value, MessageError> {
    let value = &content[member];
    match value.as_f64() {
        Some(degrees) if degrees.abs() <= bound => Ok(value),
        _ => Err(MessageError { member, expected: "a number of degrees" }),
    }
}

fn has_length(text: &str, longest: usize) -> bool {
    !text.is_empty() && text.chars().count() <= longest
}

fn is_number(to: &str) -> bool {
    (8..=15).contains(&to.len()) && to.bytes().all(|byte| byte.is_ascii_digit())
}
