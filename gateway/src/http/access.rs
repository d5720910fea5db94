//! Who may ask: bearer tokens of instances, and the account's (S1). Several tokens of one instance are good at a time,
//! so that they can be rotated; none is part of a scope (S9).

use std::collections::BTreeMap;

use http::{HeaderMap, StatusCode, header::AUTHORIZATION};
use subtle::{Choice, ConstantTimeEq};

use super::Problem;
use crate::store::Whose;

/// The longest id of an instance that is not configured.
const MAX_ID: usize = 64;

/// A sender: one tenant's number.
#[derive(Clone, PartialEq, Eq)]
pub struct Instance {
    /// Its name in the path, and the first part of the scope of its keys (S9).
    pub id: String,
    /// Its callers' bearer tokens: any of them is good.
    pub tokens: Vec<String>,
    /// Its number at the provider.
    pub phone_number_id: String,
}

// Tokens are never printed.
impl std::fmt::Debug for Instance {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Instance")
            .field("id", &self.id)
            .field("phone_number_id", &self.phone_number_id)
            .finish_non_exhaustive()
    }
}

/// Who may ask.
pub(crate) struct Access {
    instances: BTreeMap<String, Instance>,
    account_token: Option<String>,
    operator_token: Option<String>,
}

impl Access {
    pub(crate) fn new(
        instances: Vec<Instance>,
        account_token: Option<String>,
        operator_token: Option<String>,
    ) -> Self {
        let instances = instances.into_iter().map(|instance| (instance.id.clone(), instance)).collect();
        Self { instances, account_token, operator_token }
    }

    /// The number at the provider of an instance whose token this is. An instance that is not configured is the
    /// provider's to know: it was created here (S13), where its id is its number, and the account's token is its.
    pub(super) fn sender(&self, id: &str, headers: &HeaderMap) -> Result<String, Problem> {
        match self.instances.get(id) {
            Some(instance) => {
                let token = bearer_token(headers).ok_or_else(Problem::unauthorized)?;
                match is_one_of(token, &instance.tokens) {
                    true => Ok(instance.phone_number_id.clone()),
                    false => Err(Problem::unauthorized()),
                }
            }
            None if is_plain(id) && self.account(headers).is_ok() => Ok(id.to_owned()),
            None => {
                let why = "there is no such instance";
                Err(Problem::new(StatusCode::NOT_FOUND, "unknown-instance", why))
            }
        }
    }

    /// Whose messages the request may see, by its token alone: the path names no instance (S11). The account sees what
    /// it made: instances, and what they sent.
    pub(super) fn whose(&self, headers: &HeaderMap) -> Result<Whose, Problem> {
        if self.account(headers).is_ok() {
            return Ok(Whose::NotOf { instances: self.instances.keys().cloned().collect() });
        }
        let token = bearer_token(headers).ok_or_else(Problem::unauthorized)?;
        let theirs = self.instances.values().filter(|instance| is_one_of(token, &instance.tokens));
        let instances: Vec<String> = theirs.map(|instance| instance.id.clone()).collect();
        match instances.is_empty() {
            true => Err(Problem::unauthorized()),
            false => Ok(Whose::Of { instances }),
        }
    }

    /// Whether this is the operator's token. Without one in the configuration there are no such routes.
    pub(super) fn operator(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let known = self.operator_token.as_slice();
        if known.is_empty() {
            return Err(Problem::unknown_route());
        }
        match bearer_token(headers).is_some_and(|token| is_one_of(token, known)) {
            true => Ok(()),
            false => Err(Problem::unauthorized()),
        }
    }

    /// Whether this is the account's token.
    pub(super) fn account(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let token = bearer_token(headers).ok_or_else(Problem::unauthorized)?;
        match is_one_of(token, self.account_token.as_slice()) {
            true => Ok(()),
            false => Err(Problem::unauthorized()),
        }
    }
}

/// In the same time whichever it is.
fn is_one_of(token: &str, tokens: &[String]) -> bool {
    let equal = |known: &String| token.as_bytes().ct_eq(known.as_bytes());
    tokens.iter().map(equal).fold(Choice::from(0), |any, one| any | one).into()
}

/// Whether an id is safe within a path at the provider.
fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=MAX_ID).contains(&id.len()) && !id.starts_with('.') && id.bytes().all(is_plain)
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    (values.next().is_none() && scheme.eq_ignore_ascii_case("bearer")).then(|| token.trim())
}
