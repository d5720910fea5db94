//! What the producers, the operator and the sender of webhooks do, and what the provider says against the truth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::{first_gateway, is_false, is_first_gateway, is_one, one};
use super::{Deliver, DeliverStatus, Order, Span};

/// One thing that is done, and when. Exactly one of `send`, `order`, `look_up`, `resolve`, `redrive`,
/// `deliver` and `status`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When, since the run began.
    pub at: Span,
    /// A producer sends a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send: Option<Send>,
    /// A message is ordered of a producer, which keeps a book.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// A producer asks what became of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_up: Option<LookUp>,
    /// An operator settles an unknown message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolve: Option<Resolve>,
    /// An operator brings a dead letter back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redrive: Option<Redrive>,
    /// The provider delivers an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver: Option<Deliver>,
    /// The provider says how far a message has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DeliverStatus>,
}

impl Step {
    /// Whether it is the provider who does it.
    #[must_use]
    pub fn is_delivery(&self) -> bool {
        self.deliver.is_some() || self.status.is_some()
    }
}

/// A send of one logical operation, retried until its answer is definite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// Name of the logical operation. A second step with the same `op` repeats it: same key, same content.
    pub op: String,
    /// The recipient; a repetition leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The text; a repetition leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The exact body instead of one made of `to` and `text`. It must hold the marker `[op]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The content of a file: the request is a multipart upload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Breaks the upload off in the middle of the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut_upload: bool,
    /// The tenant.
    #[serde(default = "Send::first_instance", skip_serializing_if = "Send::is_first_instance")]
    pub instance: String,
    /// The canonical route, such as `messages/media`, or `instances` for the creation of one.
    #[serde(default = "Send::text_route", skip_serializing_if = "Send::is_text_route")]
    pub route: String,
    /// The prefix of the path: `v1` or `api`.
    #[serde(default = "Send::v1", skip_serializing_if = "Send::is_v1")]
    pub prefix: String,
    /// Which bearer token it sends.
    #[serde(default, skip_serializing_if = "TokenKind::is_current")]
    pub token: TokenKind,
    /// The exact `Idempotency-Key`, instead of one made for the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// A second `Idempotency-Key` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_key: Option<String>,
    /// Sends no key at all.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_key: bool,
    /// Uses the key of another operation, as a producer in error would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_of: Option<String>,
    /// How many producers send it at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: u32,
    /// The gateways to send to, in turn over producers and attempts.
    #[serde(default = "first_gateway", skip_serializing_if = "is_first_gateway")]
    pub via: Vec<String>,
    /// Overrides the pauses between attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Vec<Span>>,
}

impl Send {
    /// A text message of one operation, sent once through the first gateway.
    #[must_use]
    pub fn new(op: &str, to: &str, text: &str) -> Self {
        Self {
            op: op.into(),
            to: Some(to.into()),
            text: Some(text.into()),
            body: None,
            file: None,
            cut_upload: false,
            instance: Self::first_instance(),
            route: Self::text_route(),
            prefix: Self::v1(),
            token: TokenKind::Current,
            key: None,
            second_key: None,
            no_key: false,
            key_of: None,
            times: 1,
            via: first_gateway(),
            retry: None,
        }
    }

    fn first_instance() -> String {
        "loja-1".into()
    }
    fn is_first_instance(instance: &String) -> bool {
        *instance == Self::first_instance()
    }
    fn text_route() -> String {
        "messages/text".into()
    }
    fn is_text_route(route: &String) -> bool {
        *route == Self::text_route()
    }
    fn v1() -> String {
        "v1".into()
    }
    fn is_v1(prefix: &String) -> bool {
        *prefix == Self::v1()
    }
}

/// Which bearer token a request bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TokenKind {
    /// The tenant's token.
    #[default]
    Current,
    /// The tenant's other token, which replaces the current one.
    Rotated,
    /// A token of nobody.
    Wrong,
    /// No token.
    None,
}

impl TokenKind {
    fn is_current(&self) -> bool {
        *self == Self::Current
    }
}

/// A question about a message (S11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookUp {
    /// The operation that is asked about.
    pub op: String,
    /// What it is known by.
    pub by: KnownBy,
    /// The gateway that is asked.
    #[serde(default = "LookUp::first_gateway")]
    pub via: String,
}

impl LookUp {
    fn first_gateway() -> String {
        "gateway-1".into()
    }
}

/// What a message can be known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KnownBy {
    /// The provider's id, as the producer last heard it.
    Id,
    /// The gateway's reference, as the producer last heard it.
    Reference,
    /// The idempotency key, with its instance and route.
    Key,
}

/// An operator's word on an unknown message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resolve {
    /// The operation whose message it is.
    pub op: String,
    /// What the operator vouches for.
    #[serde(rename = "as")]
    pub verdict: OperatorVerdict,
    /// The gateway that is told.
    #[serde(default = "LookUp::first_gateway")]
    pub via: String,
}

/// An operator's second chance for a dead letter, or for all that a filter means (W8). Exactly one of `op` and `filter`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Redrive {
    /// The event whose dead letter it is. One that was redriven before is known by its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Which dead letters are brought back in one call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<DeadLetters>,
    /// How many operators do so at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: u32,
    /// The gateway that is told.
    #[serde(default = "LookUp::first_gateway")]
    pub via: String,
}

/// Which dead letters an operator means: those of which everything is true that is said here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadLetters {
    /// Whose webhook it came in by, such as `whatsapp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The tenant that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Who was to act on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscriber: Option<String>,
    /// A part of why it was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// It died so long after the run began, or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub died_after: Option<Span>,
    /// It died earlier than so long after the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub died_before: Option<Span>,
    /// The most that are brought back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What an operator can vouch for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorVerdict {
    /// The message went out.
    Sent,
    /// The message did not go out, and never will.
    NotSent,
}

/// What the provider says to one of its requests, instead of the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedAnswer {
    /// Which request at the provider, from 1.
    pub request: u32,
    /// Whether the provider acts on it.
    pub acts: bool,
    /// The status it answers with.
    pub status: u16,
    /// The body; without it the one that belongs to the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<AnswerBody>,
    /// A `Retry-After` in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
    /// How long it thinks before it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Span>,
}

/// What a scripted answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerBody {
    /// The provider's own error body, which says that it did not accept.
    Error,
    /// A page of some proxy on the way.
    Page,
    /// Bytes that are not JSON.
    Garbage,
    /// Half of the body that its length announces; then the connection breaks.
    Half,
}
