//! The seven send routes (S1). Each has one canonical name, whatever the prefix; it is the second part of the scope of
//! its keys (S9).

use serde_json::Value;

use super::FormFile;
use crate::message::{self, MediaKind, MessageError, Order};

/// A send route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Messages,
    Text,
    Media,
    Audio,
    Document,
    Contact,
    Location,
}

impl Route {
    pub(crate) const ALL: [Self; 7] =
        [Self::Messages, Self::Text, Self::Media, Self::Audio, Self::Document, Self::Contact, Self::Location];

    /// The canonical name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Text => "messages/text",
            Self::Media => "messages/media",
            Self::Audio => "messages/audio",
            Self::Document => "messages/document",
            Self::Contact => "messages/contact",
            Self::Location => "messages/location",
        }
    }

    /// Whether it takes forms with a file.
    pub(super) fn takes_forms(self) -> bool {
        matches!(self, Self::Media | Self::Audio | Self::Document)
    }

    /// What its content asks for, whose text has at most `text_limit` characters.
    pub(super) fn order(
        self,
        phone_number_id: &str,
        content: &Value,
        file: Option<FormFile>,
        text_limit: usize,
    ) -> Result<Order, MessageError> {
        match self {
            Self::Messages => message::message(phone_number_id, content, text_limit),
            Self::Text => message::text(phone_number_id, content, text_limit),
            Self::Media => message::media(phone_number_id, MediaKind::Any, content, file),
            Self::Audio => message::media(phone_number_id, MediaKind::Audio, content, file),
            Self::Document => message::media(phone_number_id, MediaKind::Document, content, file),
            Self::Contact => message::contact(phone_number_id, content),
            Self::Location => message::location(phone_number_id, content),
        }
    }
}
