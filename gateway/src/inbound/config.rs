//! Which webhooks there are, and how their senders prove themselves.

use std::{fmt, sync::Arc};

use super::Subscriber;
use crate::hint::{NoHint, SharedHint};

/// How a sender signs the raw bytes of a webhook (W2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `x-hub-signature-256` or `x-signature`: the HMAC in hexadecimal, with or without `sha256=`.
    Hub,
    /// `stripe-signature: t=…,v1=…`, over `{t}.{body}`.
    Stripe,
    /// Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature: v1,…`, over
    /// `{id}.{timestamp}.{body}`. A secret that begins with `whsec_` is Base64 after that.
    StandardWebhooks,
}

/// One webhook: `POST /webhooks/{provider}`.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Its name in the path. Of two with the same, the last counts.
    pub provider: String,
    /// How its sender signs.
    pub scheme: Scheme,
    /// With what.
    pub secret: String,
    /// What the handshake has to bear; without one there is no handshake.
    pub verify_token: Option<String>,
    /// The instance that answers what comes in here.
    pub instance: String,
    /// Who acts on its messages, each on its own: at least one, at most [`Subscriber::MOST`], with names that differ.
    pub subscribers: Vec<Subscriber>,
}

// Secrets are never printed.
impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Endpoint")
            .field("provider", &self.provider)
            .field("scheme", &self.scheme)
            .field("instance", &self.instance)
            .field("subscribers", &self.subscribers)
            .finish_non_exhaustive()
    }
}

/// The receiving side of a gateway.
#[derive(Debug, Clone)]
pub struct Inbound {
    /// Its webhooks.
    pub endpoints: Vec<Endpoint>,
    /// What remembers deliveries that are durably owned (W5).
    pub hint: SharedHint,
}

impl Inbound {
    /// These webhooks, without a hint: the database answers for every delivery.
    #[must_use]
    pub fn new(endpoints: Vec<Endpoint>) -> Self {
        Self { endpoints, hint: Arc::new(NoHint) }
    }
}
