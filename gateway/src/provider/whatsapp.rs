//! A provider after the WhatsApp Cloud API: `POST /{phone_number_id}/messages`, whose answer names
//! `messages[0].id`, and which gives our reference back in `biz_opaque_callback_data`.

use std::time::Duration;

use bytes::Bytes;
use http::{
    Request,
    header::{AUTHORIZATION, CONTENT_TYPE, HOST},
};
use serde::{Deserialize, Serialize};

use super::{Outcome, Sighting, classify, sight};
use crate::{client::Connection, key::IDEMPOTENCY_KEY, points, policy::Policy, world::SharedWorld};

/// What the provider can do about a request whose answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// It takes our reference as its `Idempotency-Key`, looks it up before it validates, and drops a connection
    /// on which a request was begun longer ago than the longest request age.
    Keyed {
        /// How long it remembers a key.
        retention: Duration,
    },
    /// It takes no key, and tells by our reference what it sent: "found" is proof, "not found" is none.
    Queryable,
    /// It takes no key and cannot be asked, and its status webhooks give our reference back, which is proof (W11).
    Echoing,
    /// It takes no key, and cannot be asked.
    Opaque,
}

/// Where the provider is and what it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Its host name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Our bearer token there.
    pub access_token: String,
    /// What it can do.
    pub ability: Ability,
}

/// A request as it is kept from its mark until it is settled. Our token is not in it: it rotates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outbound {
    /// Path on the provider's host.
    pub path: String,
    /// The exact body.
    pub body: String,
}

/// The provider's client.
pub struct WhatsApp {
    pub(super) world: SharedWorld,
    pub(super) config: ProviderConfig,
    pub(super) timeout: Duration,
}

impl WhatsApp {
    /// A client that waits for an answer as long as the policy says.
    #[must_use]
    pub fn new(world: SharedWorld, config: ProviderConfig, policy: &Policy) -> Self {
        Self { world, config, timeout: policy.provider_timeout }
    }

    /// What the provider can do about a request whose answer was lost.
    #[must_use]
    pub fn ability(&self) -> Ability {
        self.config.ability
    }

    /// Sends a request, once: the connection first, then the clock, then the first byte (step 4 of the protocol).
    /// `deadline` is in [`crate::world::World::since_boot`]; past it nothing is written.
    pub async fn dispatch(&self, outbound: &Outbound, reference: &str, deadline: Duration) -> Outcome {
        let request = match self.request(outbound, reference) {
            Ok(request) => request,
            Err(error) => return not_sent(error.to_string()),
        };
        let patience = deadline.saturating_sub(self.world.since_boot());
        let opened =
            Connection::open(&self.world, &self.config.host, self.config.port, patience.min(self.timeout));
        let connection = match opened.await {
            Ok(connection) => connection,
            Err(error) => return not_sent(error.to_string()),
        };
        self.world.reach(points::BEFORE_DISPATCH).await;
        if self.world.since_boot() >= deadline {
            return not_sent("the send deadline has passed".to_owned());
        }
        self.world.reach(points::AT_FIRST_BYTE).await;
        match connection.send(request, self.timeout).await {
            Ok(response) => classify(&response),
            Err(error) => Outcome::Ambiguous { why: error.to_string(), is_answered: false },
        }
    }

    /// Asks for the message of a request, which sends nothing that can act.
    pub async fn query(&self, outbound: &Outbound, reference: &str) -> Sighting {
        // A reference is hexadecimal: there is nothing to encode.
        let request = Request::get(format!("{}?reference={reference}", outbound.path))
            .header(HOST, self.authority())
            .header(AUTHORIZATION, format!("Bearer {}", self.config.access_token))
            .body(Bytes::new());
        let Ok(request) = request else {
            return Sighting::NoAnswer;
        };
        let opened = Connection::open(&self.world, &self.config.host, self.config.port, self.timeout);
        let Ok(connection) = opened.await else {
            return Sighting::NoAnswer;
        };
        let response = connection.send(request, self.timeout).await;
        response.map_or(Sighting::NoAnswer, |response| sight(&response))
    }

    fn authority(&self) -> String {
        format!("{}:{}", self.config.host, self.config.port)
    }

    fn request(&self, outbound: &Outbound, reference: &str) -> http::Result<Request<Bytes>> {
        let mut request = Request::post(&outbound.path)
            .header(HOST, self.authority())
            .header(AUTHORIZATION, format!("Bearer {}", self.config.access_token))
            .header(CONTENT_TYPE, "application/json");
        if matches!(self.config.ability, Ability::Keyed { .. }) {
            request = request.header(IDEMPOTENCY_KEY, reference);
        }
        request.body(Bytes::from(outbound.body.clone()))
    }
}

fn not_sent(why: String) -> Outcome {
    Outcome::NotSent { why }
}
