//! What the provider delivers: events that came in, and statuses of messages that went out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;
use super::defaults::{first_gateway, is_false, is_first_gateway, is_one, one};

/// A webhook of one inbound message, or of a batch of them, delivered until it is answered with a 2xx (W1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deliver {
    /// Name of the event, or of the batch. A second step with the same `op` delivers the same once more: same ids, same
    /// bytes, another signature.
    pub op: String,
    /// Who wrote; a redelivery leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What they wrote; a redelivery leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A batch instead of one event (W4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<BatchItem>,
    /// The exact body instead of one made of the above. Where it acts, it must hold the marker `[op]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// How good the signature is (W2).
    #[serde(default, skip_serializing_if = "SignatureKind::is_good")]
    pub signature: SignatureKind,
    /// How it is signed (W2).
    #[serde(default, skip_serializing_if = "SignatureScheme::is_meta")]
    pub scheme: SignatureScheme,
    /// How many deliveries go out at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: u32,
    /// The gateways to deliver to, in turn over deliveries and attempts.
    #[serde(default = "first_gateway", skip_serializing_if = "is_first_gateway")]
    pub via: Vec<String>,
    /// How long one attempt may take.
    #[serde(default = "a_second", skip_serializing_if = "is_a_second")]
    pub timeout: Span,
    /// Pauses before the second, third, … attempt; empty for no redelivery.
    #[serde(default = "patient", skip_serializing_if = "is_patient")]
    pub retry: Vec<Span>,
}

/// One item of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchItem {
    /// Name of the event. The same `op` twice in a batch is the same event twice.
    pub op: String,
    /// Who wrote; a duplicate leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What they wrote; a duplicate leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// In which entry of the envelope it stands, from 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub entry: u32,
    /// In which change of its entry it stands, from 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub change: u32,
    /// Whether it lacks its id, so that it can never be handled.
    #[serde(default, skip_serializing_if = "is_false")]
    pub poison: bool,
    /// So many events instead of one, called `op-1`, `op-2` and on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// A webhook that says how far a message has come (W11). It bears the id that the provider's ledger gave to the message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliverStatus {
    /// The operation whose message it is.
    pub of: String,
    /// How far it has come.
    pub status: MessageStatus,
    /// How many deliveries go out at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: u32,
    /// The gateways to deliver to, in turn over deliveries and attempts.
    #[serde(default = "first_gateway", skip_serializing_if = "is_first_gateway")]
    pub via: Vec<String>,
    /// How long one attempt may take.
    #[serde(default = "a_second", skip_serializing_if = "is_a_second")]
    pub timeout: Span,
    /// Pauses before the second, third, … attempt; empty for no redelivery.
    #[serde(default = "patient", skip_serializing_if = "is_patient")]
    pub retry: Vec<Span>,
}

/// How far a message has come, as the provider spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MessageStatus {
    /// It is on its way.
    Sent,
    /// It could not be delivered.
    Failed,
    /// It is on the recipient's device.
    Delivered,
    /// The recipient has read it.
    Read,
}

impl MessageStatus {
    /// As the provider spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Delivered => "delivered",
            Self::Read => "read",
        }
    }
}

/// How good a signature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureKind {
    /// Made with the secret, over the very bytes.
    #[default]
    Good,
    /// Made with another secret.
    Wrong,
    /// Not there.
    Missing,
    /// Made with the secret, over the true event; the text was changed on the way.
    AlteredBody,
}

impl SignatureKind {
    fn is_good(&self) -> bool {
        *self == Self::Good
    }
}

/// How a webhook is signed, and so where it goes and what its envelope is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureScheme {
    /// `x-hub-signature-256: sha256=…`, and Meta's envelope. The receiver of `zap` reads Stripe's alone, so that one event
    /// comes to it in that.
    #[default]
    Meta,
    /// `x-signature`, bare hexadecimal, and an envelope of one event.
    XSignature,
    /// `stripe-signature: t=…,v1=…`, and an envelope of one event.
    Stripe,
    /// Standard Webhooks, and an envelope of one event.
    Standard,
}

impl SignatureScheme {
    fn is_meta(&self) -> bool {
        *self == Self::Meta
    }

    /// Whether its envelope can hold a batch.
    #[must_use]
    pub fn takes_batches(self) -> bool {
        self.is_meta()
    }
}

/// One event as it is delivered, whichever step says what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundEvent {
    /// Its name.
    pub op: String,
    /// Who wrote.
    pub from: String,
    /// What they wrote, without the marker.
    pub text: String,
    /// In which entry of the envelope it stands, from 1.
    pub entry: u32,
    /// In which change of its entry it stands, from 1.
    pub change: u32,
    /// Whether it lacks its id.
    pub poison: bool,
}

impl BatchItem {
    /// The names of its events.
    pub fn ops(&self) -> impl Iterator<Item = String> {
        let numbered = self.count.map(|count| (1..=count).map(|number| format!("{}-{number}", self.op)));
        let lone = self.count.is_none().then(|| self.op.clone());
        numbered.into_iter().flatten().chain(lone)
    }
}

impl Deliver {
    /// One message, well signed, delivered to the first gateway.
    #[must_use]
    pub fn message(op: &str, from: &str, text: &str) -> Self {
        Self {
            op: op.into(),
            from: Some(from.into()),
            text: Some(text.into()),
            items: Vec::new(),
            body: None,
            signature: SignatureKind::default(),
            scheme: SignatureScheme::default(),
            times: 1,
            via: first_gateway(),
            timeout: a_second(),
            retry: patient(),
        }
    }

    /// What an altered delivery claims to be about: an operation that nobody ever asked for.
    #[must_use]
    pub fn forged(op: &str) -> String {
        format!("{op}-forged")
    }

    /// The names of the events that it bears. A second step of a batch bears what the first says.
    pub fn ops(&self) -> impl Iterator<Item = String> {
        let lone = self.items.is_empty().then(|| self.op.clone());
        self.items.iter().flat_map(BatchItem::ops).chain(lone)
    }
}

/// How long a webhook may take (W6).
fn a_second() -> Span {
    Span::from_ms(1_000)
}

fn is_a_second(span: &Span) -> bool {
    *span == a_second()
}

/// A sender that does not give up soon: five seconds, half a minute, two minutes. Meta goes on for up to 7 days (W1);
/// what comes so late is a step of its own.
fn patient() -> Vec<Span> {
    [5_000, 30_000, 120_000].map(Span::from_ms).to_vec()
}

fn is_patient(pauses: &[Span]) -> bool {
    pauses == patient()
}
