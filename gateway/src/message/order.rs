//! What the provider is to be asked, but for what only an attempt knows: our reference, and the id of a file that is
//! handed over first.

use serde_json::{Map, Value, json};

use crate::{provider::Outbound, spool::Spooled};

/// What keys of `POST /{prefix}/instances` are unique in. No message's scope is the same: those end with a route that
/// begins with `messages`.
pub const INSTANCES_SCOPE: &str = "account/instances";

/// The member of a request that bears our reference, which the provider gives back.
pub const REFERENCE: &str = "biz_opaque_callback_data";

/// What an order makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// A message.
    Message,
    /// An instance (S13).
    Instance,
}

impl Made {
    /// What the keys of this scope make.
    #[must_use]
    pub fn in_scope(scope: &str) -> Self {
        match scope {
            INSTANCES_SCOPE => Self::Instance,
            _ => Self::Message,
        }
    }
}

/// A request to the provider in the making.
#[derive(Debug)]
pub struct Order {
    /// What it makes.
    pub made: Made,
    path: String,
    body: Map<String, Value>,
    attachment: Option<Attachment>,
}

/// A file that has to be at the provider before the message that refers to it.
#[derive(Debug)]
pub struct Attachment {
    /// Where it is uploaded, on the provider's host.
    pub path: String,
    /// The member of the message that refers to it.
    pub member: &'static str,
    /// Its media type.
    pub media_type: String,
    /// Its name.
    pub name: String,
    /// Its content.
    pub content: Spooled,
}

impl Order {
    /// A message from `phone_number_id`: `{"type": kind, kind: object}`.
    #[must_use]
    pub fn message(phone_number_id: &str, to: &str, kind: &str, object: Value) -> Self {
        let mut body = Map::new();
        body.insert("messaging_product".into(), json!("whatsapp"));
        body.insert("to".into(), json!(to));
        body.insert("type".into(), json!(kind));
        body.insert(kind.into(), object);
        Self { made: Made::Message, path: format!("/{phone_number_id}/messages"), body, attachment: None }
    }

    /// A new instance of this name.
    #[must_use]
    pub fn instance(name: &str) -> Self {
        let body = Map::from_iter([("name".to_owned(), json!(name))]);
        Self { made: Made::Instance, path: "/instances".into(), body, attachment: None }
    }

    /// The same, once this file was handed over.
    #[must_use]
    pub fn with_attachment(mut self, attachment: Attachment) -> Self {
        self.attachment = Some(attachment);
        self
    }

    /// The file that has to be handed over first.
    #[must_use]
    pub fn attachment(&self) -> Option<&Attachment> {
        self.attachment.as_ref()
    }

    /// The request that carries this order out under our reference, with the provider's id of the file.
    #[must_use]
    pub fn outbound(&self, reference: &str, media_id: Option<&str>) -> Outbound {
        let mut body = self.body.clone();
        body.insert(REFERENCE.into(), json!(reference));
        let object = self.attachment.as_ref().and_then(|file| body.get_mut(file.member)?.as_object_mut());
        if let (Some(object), Some(id)) = (object, media_id) {
            object.insert("id".into(), json!(id));
        }
        Outbound { path: self.path.clone(), body: Value::Object(body).to_string() }
    }
}
