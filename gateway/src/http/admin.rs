//! The operator's routes: what is unknown, and settling it by their word; what is dead, and redriving it.

mod dead_letters;
mod filter;

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Path, Request, rejection::PathRejection},
    routing::{get, post},
};
use http::{HeaderMap, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Problem, api::Api, content, status::respond};
use crate::{
    policy::as_ms,
    send::sent_by_word,
    store::{Reply, Slot, Sought, State as RecordState, StoreError, Unsettled, Whose},
    world::to_the_end,
};

/// The most records that are listed at a time.
const LISTED: u32 = 500;

/// The last millisecond of the year 9999, beyond which RFC 3339 has no dates.
const LAST_DATE_MS: i64 = 253_402_300_799_999;

/// What the operator says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resolution {
    r#as: As,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum As {
    Sent,
    NotSent,
}

pub(super) fn routes() -> Router {
    Router::new()
        .route("/admin/unknown", get(list))
        .route("/admin/unknown/{reference}/resolve", post(resolve))
        .merge(dead_letters::routes())
}

async fn list(Extension(api): Extension<Arc<Api>>, headers: HeaderMap) -> Response<Body> {
    let answer = async {
        api.access.operator(&headers)?;
        match api.protocol.ledger.list_unknown(LISTED).await {
            Ok(Reply::Unknowns { records, is_cut }) => {
                let unknown: Vec<Value> = records.iter().map(|record| api.listed(record)).collect();
                Ok(json!({ "unknown": unknown, "more": is_cut }))
            }
            other => Err(store_failure(other)),
        }
    };
    respond(answer.await)
}

async fn resolve(
    Extension(api): Extension<Arc<Api>>,
    reference: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response<Body> {
    let answer = async {
        let (head, body) = request.into_parts();
        api.access.operator(&head.headers)?;
        let protocol = &api.protocol;
        let body = content::whole(&*protocol.world, protocol.policy.body_limit, body).await?;
        let resolution: Resolution = serde_json::from_slice(&body)
            .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "bad-json", error))?;
        let Path(reference) = reference.map_err(|_| Problem::unknown_message())?;
        api.settle_by_word(&reference, resolution.r#as).await
    };
    respond(answer.await)
}

impl Api {
    fn listed(&self, record: &Unsettled) -> Value {
        let dead_after_ms = as_ms(self.protocol.policy.dead_after());
        json!({
            "reference": record.reference,
            "scope": record.slot.scope,
            "key": record.slot.key,
            "since": date(record.since_ms),
            "earliestNotSent": date(record.last_request_ms.saturating_add(dead_after_ms).saturating_add(1)),
        })
    }

    /// Two steps: whose the reference is, and then the word on that very record, which is fenced by the reference.
    async fn settle_by_word(&self, reference: &str, word: As) -> Result<Value, Problem> {
        let protocol = &self.protocol;
        let slot = self.slot_of(reference).await?;
        let (ledger, of, named) = (protocol.ledger.clone(), slot.clone(), reference.to_owned());
        let command = async move {
            match word {
                As::Sent => ledger.resolve_sent(&of, &named, sent_by_word(&of, &named)).await,
                As::NotSent => ledger.resolve_not_sent(&of, &named).await,
            }
        };
        match written(self, command).await {
            Ok(Reply::Applied) => {
                protocol.wakeups.settled(&slot);
                let status = match word {
                    As::Sent => "sent",
                    As::NotSent => "not-sent",
                };
                Ok(json!({ "status": status, "reference": reference }))
            }
            Ok(Reply::TooEarly { earliest_ms }) => Err(too_early(earliest_ms, protocol.world.clock_ms())),
            Ok(Reply::Fenced { view: Some(view) })
                if matches!(view.state, RecordState::Done | RecordState::Tombstone) =>
            {
                Err(Problem::new(StatusCode::CONFLICT, "settled", "the message is settled already"))
            }
            Ok(Reply::Fenced { .. }) => {
                Err(Problem::new(StatusCode::NOT_FOUND, "not-unknown", "the message is not unknown"))
            }
            Ok(Reply::Absent) => Err(Problem::unknown_message()),
            other => Err(store_failure(other)),
        }
    }

    async fn slot_of(&self, reference: &str) -> Result<Slot, Problem> {
        let sought = Sought::Message { id: reference.to_owned() };
        match self.protocol.ledger.find(sought, Whose::Anybodys).await {
            // Not by the provider's id: a message that has one is settled.
            Ok(Reply::Found { slot, view, .. }) if view.reference.as_deref() == Some(reference) => Ok(slot),
            Ok(Reply::Found { .. } | Reply::Absent) => Err(Problem::unknown_message()),
            other => Err(store_failure(other)),
        }
    }
}

/// 409: a request may still be alive.
fn too_early(earliest_ms: i64, now_ms: i64) -> Problem {
    let left_ms = earliest_ms.saturating_sub(now_ms).max(1);
    let seconds = (left_ms.saturating_sub(1) / 1000).saturating_add(1);
    Problem::new(StatusCode::CONFLICT, "too-early", "a request for this message may still act")
        .with("earliest", date(earliest_ms))
        .retry_after(&seconds.to_string())
}

/// What an operator asks for is done to its end when the operator hangs up: the workers learn of it from the store's answer.
async fn written(
    api: &Api,
    command: impl Future<Output = Result<Reply, StoreError>> + Send + 'static,
) -> Result<Reply, StoreError> {
    let cut_off = || Err(StoreError::Ambiguous("it was cut off".into()));
    to_the_end(&*api.protocol.world, command).await.unwrap_or_else(cut_off)
}

fn store_failure(reply: Result<Reply, StoreError>) -> Problem {
    match reply {
        Ok(reply) => Problem::store_unavailable(format!("unexpected reply {reply:?}")),
        Err(error) => Problem::store_unavailable(error),
    }
}

/// RFC 3339, in UTC.
fn date(at_ms: i64) -> String {
    let at_ms = u64::try_from(at_ms.min(LAST_DATE_MS)).unwrap_or_default();
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(at_ms)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_is_a_date() {
        assert_eq!(date(1_764_000_000_123), "2025-11-24T16:00:00.123Z");
        assert_eq!(date(i64::MIN), "1970-01-01T00:00:00.000Z");
        assert_eq!(date(i64::MAX), "9999-12-31T23:59:59.999Z");
    }
}
