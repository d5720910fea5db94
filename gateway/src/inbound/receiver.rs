//! The way of a delivery, from its raw bytes to its 200.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    Endpoint, Inbound, Scheme, Subscriber,
    envelope::{self, EnvelopeError},
    signature,
};
use crate::{
    fingerprint, hex,
    hint::SharedHint,
    http::Problem,
    ledger::Ledger,
    metrics::Metrics,
    points,
    policy::{Policy, as_ms},
    provider::Ability,
    store::{EventReply, Item, Reply},
    world::{SharedWorld, to_the_end, within},
};

/// Owns what comes in.
#[derive(Clone)]
pub(crate) struct Receiver {
    world: SharedWorld,
    ledger: Ledger,
    policy: Arc<Policy>,
    hint: SharedHint,
    metrics: Metrics,
    endpoints: Arc<BTreeMap<String, Endpoint>>,
}

impl Receiver {
    pub(crate) fn new(
        world: SharedWorld,
        ledger: Ledger,
        policy: Arc<Policy>,
        metrics: Metrics,
        inbound: Inbound,
    ) -> Self {
        let endpoints = inbound.endpoints.into_iter();
        let endpoints = endpoints.map(|endpoint| (endpoint.provider.clone(), endpoint)).collect();
        Self { world, ledger, policy, hint: inbound.hint, metrics, endpoints: Arc::new(endpoints) }
    }

    pub(super) fn endpoint(&self, provider: &str) -> Result<&Endpoint, Problem> {
        let unknown = || Problem::new(StatusCode::NOT_FOUND, "unknown-provider", "there is no such webhook");
        self.endpoints.get(provider).ok_or_else(unknown)
    }

    /// Authenticates, parses, and makes it ours: what comes back as `Ok` is durable (W6).
    pub(super) async fn take(
        &self,
        endpoint: &Endpoint,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Value, Problem> {
        let (now_ms, tolerance_ms) = (self.world.clock_ms(), as_ms(self.policy.signature_tolerance));
        if !signature::is_authentic(endpoint, headers, body, now_ms, tolerance_ms) {
            let why = "the signature is missing, wrong or too old";
            return Err(Problem::new(StatusCode::BAD_REQUEST, "bad-signature", why));
        }
        let items = read(endpoint, headers, body, self.ledger.ability() == Ability::Echoing)?;
        let hint_key = hint_key(endpoint, body);
        let receiver = self.clone();
        // In a task of its own: a sender that hangs up, or that is answered 503, does not take back what was asked.
        let owned = to_the_end(&*self.world, async move { receiver.own(items, hint_key).await });
        match within(&*self.world, self.policy.webhook_patience, owned).await {
            Some(Some(answer)) => answer,
            Some(None) | None => Err(not_owned("the store did not confirm in time")),
        }
    }

    /// A hint is set only after a confirmed COMMIT of these very bytes, so that a hit is as good as the database's word; a
    /// miss or an error goes to the database (W5).
    async fn own(&self, items: Vec<Item>, hint_key: String) -> Result<Value, Problem> {
        let patience = self.policy.hint_timeout;
        if within(&*self.world, patience, self.hint.seen(&hint_key)).await == Some(true) {
            self.metrics.received(0, u32::try_from(items.len()).unwrap_or(u32::MAX), 0);
            return Ok(json!({ "status": "known" }));
        }
        self.world.reach(points::BEFORE_RECEIVE).await;
        let reply = self.ledger.receive(items).await.map_err(not_owned)?;
        let Reply::Event(EventReply::Received { new, known, dead }) = reply else {
            return Err(not_owned(format!("unexpected reply {reply:?}")));
        };
        self.metrics.received(new, known, dead);
        self.world.reach(points::AFTER_RECEIVE).await;
        let _ = within(&*self.world, patience, self.hint.mark(&hint_key, self.policy.hint_ttl)).await;
        self.world.reach(points::BEFORE_ACK).await;
        Ok(json!({ "status": "owned", "new": new, "known": known, "dead": dead }))
    }
}

fn read(
    endpoint: &Endpoint,
    headers: &HeaderMap,
    body: &Bytes,
    is_echoing: bool,
) -> Result<Vec<Item>, Problem> {
    let bad = |why: &dyn ToString| Problem::new(StatusCode::BAD_REQUEST, "bad-event", why.to_string());
    // Of two members with one name nobody knows which was meant.
    let value = fingerprint::parse(body).map_err(|error| bad(&error))?;
    // Only a header that is signed may name an event.
    let header = match endpoint.scheme {
        Scheme::StandardWebhooks => signature::only(headers, signature::STANDARD_ID),
        Scheme::Hub | Scheme::Stripe => None,
    };
    envelope::open(endpoint, &value, header, is_echoing).map_err(|error| match error {
        EnvelopeError::Bad(why) => bad(&why),
        EnvelopeError::TooMany => Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-many-items", error),
    })
}

/// One hint for one delivery: a redelivery has the same bytes, whatever its signature. It speaks for these subscribers alone:
/// to one that was added since, the database has to say whether the event is known.
fn hint_key(endpoint: &Endpoint, body: &Bytes) -> String {
    let Endpoint { provider, instance, subscribers, .. } = endpoint;
    let mut digest = Sha256::new();
    for Subscriber { name, .. } in subscribers {
        digest.update((name.len() as u64).to_be_bytes());
        digest.update(name);
    }
    digest.update(u64::MAX.to_be_bytes());
    digest.update(body);
    format!("webhook:{provider}:{instance}:{}", hex::encode(&digest.finalize()))
}

/// 503: the sender keeps it, and delivers it again.
fn not_owned(why: impl ToString) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-owned", why).retry_after("1")
}
