//! `GET /webhooks/{provider}`: the provider asks whether we know the token that we gave it (W2).

use http::StatusCode;
use serde::Deserialize;
use subtle::ConstantTimeEq;

use super::Endpoint;
use crate::http::Problem;

/// The query of a handshake.
#[derive(Deserialize)]
pub(super) struct Handshake {
    #[serde(rename = "hub.mode")]
    mode: String,
    #[serde(rename = "hub.verify_token")]
    verify_token: String,
    #[serde(rename = "hub.challenge")]
    challenge: String,
}

impl Handshake {
    /// What is echoed to a provider that knows the token.
    pub(super) fn answer(self, endpoint: &Endpoint) -> Result<String, Problem> {
        let ours = endpoint.verify_token.as_deref().unwrap_or_default();
        let is_same = bool::from(self.verify_token.as_bytes().ct_eq(ours.as_bytes()));
        match self.mode == "subscribe" && !ours.is_empty() && is_same {
            true => Ok(self.challenge),
            false => Err(not_verified()),
        }
    }
}

/// 403.
pub(super) fn not_verified() -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "not-verified", "the handshake's token is missing or wrong")
}
