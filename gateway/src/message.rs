//! What a caller asks to send: `messages/text` (S1).

use serde_json::Value;

/// A valid text message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextMessage {
    /// The recipient's number, digits only.
    pub to: String,
    /// What to say.
    pub text: String,
}

/// What is wrong with a message (400).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// `to` is absent, not text, or not a number.
    #[error("`to` must be a string of 8 to 15 digits")]
    To,
    /// `text` is absent or not text, empty, or too long.
    #[error("`text` must be a string that is neither empty nor too long")]
    Text,
}

impl TextMessage {
    /// Reads and validates a parsed body, whose text may have `text_limit` characters. Members that it does not know are left alone.
    ///
    /// # Errors
    /// [`MessageError`], which names the member.
    pub fn from_value(value: &Value, text_limit: usize) -> Result<Self, MessageError> {
        let to = value.get("to").and_then(Value::as_str);
        let to = to.filter(|to| is_number(to)).ok_or(MessageError::To)?;
        let text = value.get("text").and_then(Value::as_str);
        let text =
            text.filter(|text| (1..=text_limit).contains(&text.chars().count())).ok_or(MessageError::Text)?;
        Ok(Self { to: to.to_owned(), text: text.to_owned() })
    }
}

fn is_number(to: &str) -> bool {
    (8..=15).contains(&to.len()) && to.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_members_are_needed_and_bounded() {
        let valid = json!({"to": "5511999990001", "text": "é".repeat(4096), "more": 1});
        assert!(TextMessage::from_value(&valid, 4096).is_ok());
        for (value, expected) in [
            (json!(null), MessageError::To),
            (json!({"to": 5_511_999_990_001_u64, "text": "x"}), MessageError::To),
            (json!({"to": "+551199999", "text": "x"}), MessageError::To),
            (json!({"to": "1234567", "text": "x"}), MessageError::To),
            (json!({"to": "12345678"}), MessageError::Text),
            (json!({"to": "12345678", "text": ""}), MessageError::Text),
            (json!({"to": "12345678", "text": "x".repeat(4097)}), MessageError::Text),
        ] {
            assert_eq!(TextMessage::from_value(&value, 4096), Err(expected), "{value}");
        }
    }
}
