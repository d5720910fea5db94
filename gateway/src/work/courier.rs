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
    metrics::Asker,
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
    let request = SendRequest { asker: Asker::Worker, slot: Some(effect.slot.clone()), fingerprint, order };
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
        error.starts_with("401") || error.starts_with("403") || error.ends_with("provider-refused")
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const AGAIN: Failure = Failure::Retry { attempts: 5 };

    fn read_one(status: u16, slug: &str, headers: &[(&str, &str)]) -> Delivered {
        let body = json!({ "type": format!("{PROBLEM_TYPE_PREFIX}{slug}") }).to_string();
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        read(&response.body(Bytes::from(body)).unwrap(), 5)
    }

    #[test]
    fn the_table_decides() {
        for (status, slug, expected, is_alarming) in [
            (400, "invalid-message", Failure::Bury, false),
            (404, "message-refused", Failure::Bury, false),
            (422, "key-reused", Failure::Bury, false),
            (401, "unauthorized", Failure::Bury, true),
            (403, "x", Failure::Bury, true),
            (502, "provider-refused", Failure::Bury, true),
            (429, "message-refused", AGAIN, false),
            (503, "not-sent", AGAIN, false),
            (503, "store-unavailable", AGAIN, false),
            (409, "in-flight", Failure::Postpone, false),
            (504, "outcome-unknown", Failure::Park, false),
            (500, "x", AGAIN, false),
        ] {
            let delivered = read_one(status, slug, &[]);
            assert_eq!(delivered.is_alarming(), is_alarming, "{status} {slug}");
            match delivered {
                Delivered::No { failure, .. } => assert_eq!(failure, expected, "{status} {slug}"),
                Delivered::Yes => panic!("{status} {slug} is no success"),
            }
        }
        assert_eq!(read_one(200, "", &[("x-idempotent-replay", "true")]), Delivered::Yes);
        assert_eq!(read_one(410, "key-expired", &[]), Delivered::Yes);
    }

    #[test]
    fn a_stored_error_would_be_replayed_for_ever() {
        let delivered = read_one(504, "outcome-unknown", &[("x-idempotent-replay", "true")]);
        assert!(matches!(delivered, Delivered::No { failure: Failure::Bury, .. }));
        assert!(!delivered.is_alarming());
    }

    #[test]
    fn retry_after_is_heeded_within_an_hour() {
        let pause = |value| match read_one(429, "message-refused", &[("retry-after", value)]) {
            Delivered::No { pause, .. } => pause.map(|pause| pause.as_secs()),
            Delivered::Yes => panic!("no success"),
        };
        assert_eq!(pause("7"), Some(7));
        assert_eq!(pause("999999999"), Some(3600));
        assert_eq!(pause("Wed, 21 Oct 2015 07:28:00 GMT"), None);
        assert_eq!(pause("-1"), None);
    }
}
