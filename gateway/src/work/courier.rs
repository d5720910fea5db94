//! Sends what the outbox holds, through the send protocol with its domain key, and reads the answer as the protocol's
//! section "An event" says.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Response, StatusCode, header::RETRY_AFTER};
use serde_json::Value;

use crate::{
    fingerprint,
    http::{Instance, PROBLEM_TYPE_PREFIX, REPLAY},
    message,
    send::{Protocol, SendRequest},
    store::{Effect, Failure},
};

/// The longest `Retry-After` that is heeded.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The numbers of the instances at the provider.
#[derive(Clone)]
pub(crate) struct Numbers(Arc<BTreeMap<String, String>>);

impl Numbers {
    pub(crate) fn of(instances: &[Instance]) -> Self {
        let numbers = instances.iter().map(|it| (it.id.clone(), it.phone_number_id.clone()));
        Self(Arc::new(numbers.collect()))
    }

    /// An instance that is not configured was created here: its id is its number (S13).
    fn number<'a>(&'a self, instance: &'a str) -> &'a str {
        self.0.get(instance).map_or(instance, String::as_str)
    }
}

/// What the answer to a send means for its row.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delivered {
    /// The message was sent.
    Yes,
    /// It was not, or nobody knows.
    No {
        failure: Failure,
        /// What the answer says of when to come back.
        pause: Option<Duration>,
        error: String,
    },
}

/// Sends; the answer is in hand once this is ready, and nothing is written about the row.
pub(super) async fn deliver(protocol: &Arc<Protocol>, numbers: &Numbers, effect: &Effect) -> Delivered {
    let Ok(content) = serde_json::from_str::<Value>(&effect.content) else {
        return Delivered::bury("the outbox row is not JSON".into());
    };
    let fingerprint = match fingerprint::of_value(&content) {
        Ok(fingerprint) => fingerprint,
        Err(error) => return Delivered::bury(error.to_string()),
    };
    let instance = effect.slot.scope.split('/').next().unwrap_or_default();
    let order = message::text(numbers.number(instance), &content, protocol.policy.text_limit);
    let request = SendRequest { slot: Some(effect.slot.clone()), fingerprint, order };
    read(&protocol.clone().send(request).await, protocol.policy.attempts)
}

/// The table of the section "An event".
fn read(response: &Response<Bytes>, attempts: u32) -> Delivered {
    let status = response.status();
    let slug = slug(response);
    // A policy that stores errors replays this one for ever (S6).
    let is_definite = response.headers().contains_key(REPLAY);
    let (failure, pause) = match status {
        _ if status.is_success() => return Delivered::Yes,
        StatusCode::GONE => return Delivered::Yes,
        _ if is_definite => (Failure::Bury, None),
        StatusCode::UNPROCESSABLE_ENTITY | StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND => {
            (Failure::Bury, None)
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => (Failure::Bury, None),
        StatusCode::BAD_GATEWAY if slug == "provider-refused" => (Failure::Bury, None),
        StatusCode::TOO_MANY_REQUESTS => (Failure::Retry { attempts }, retry_after(response)),
        StatusCode::CONFLICT => (Failure::Postpone, retry_after(response)),
        _ if slug == "outcome-unknown" => (Failure::Park, None),
        _ => (Failure::Retry { attempts }, None),
    };
    Delivered::No { failure, pause, error: format!("{} {slug}", status.as_u16()) }
}

impl Delivered {
    fn bury(error: String) -> Self {
        Self::No { failure: Failure::Bury, pause: None, error }
    }

    /// Whether a person has to look: our own token is refused, and so will every other send be.
    pub(super) fn is_alarming(&self) -> bool {
        let Self::No { failure: Failure::Bury, error, .. } = self else {
            return false;
        };
        ["401", "403", "502"].iter().any(|status| error.starts_with(status))
    }
}

/// What the problem is called.
fn slug(response: &Response<Bytes>) -> String {
    let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    let slug = body["type"].as_str().and_then(|name| name.strip_prefix(PROBLEM_TYPE_PREFIX));
    slug.unwrap_or("no-problem").to_owned()
}

/// In seconds; a date is not read, and the usual pause is made.
fn retry_after(response: &Response<Bytes>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}
