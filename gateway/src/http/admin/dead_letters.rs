//! What nobody tries any more, and bringing it back (W8).

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Body,
    extract::{
        Path, Query, Request,
        rejection::{PathRejection, QueryRejection},
    },
    routing::{get, post},
};
use http::{HeaderMap, Response, StatusCode};
use serde_json::{Value, json};

use super::{
    date,
    filter::{Filter, bad_filter},
    store_failure, written,
};
use crate::{
    http::{Problem, api::Api, content, status::respond},
    store::{DeadLetter, EventReply, Reply},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/admin/dead-letters", get(list))
        .route("/admin/dead-letters/redrive", post(redrive_all))
        .route("/admin/dead-letters/{id}/redrive", post(redrive))
}

async fn list(
    Extension(api): Extension<Arc<Api>>,
    filter: Result<Query<Filter>, QueryRejection>,
    headers: HeaderMap,
) -> Response<Body> {
    let answer = async {
        api.access.operator(&headers)?;
        let Query(filter) = filter.map_err(bad_filter)?;
        let (filter, limit) = filter.read()?;
        match api.protocol.ledger.list_dead(filter, limit).await {
            Ok(Reply::Event(EventReply::Dead { letters, is_cut })) => {
                let letters: Vec<Value> = letters.iter().map(listed).collect();
                Ok(json!({ "deadLetters": letters, "more": is_cut }))
            }
            other => Err(store_failure(other)),
        }
    };
    respond(answer.await)
}

/// All that a filter means, as many as its limit says; what is left is the next call's.
async fn redrive_all(Extension(api): Extension<Arc<Api>>, request: Request) -> Response<Body> {
    let answer = async {
        let (head, body) = request.into_parts();
        api.access.operator(&head.headers)?;
        let protocol = &api.protocol;
        let body = content::whole(&*protocol.world, protocol.policy.body_limit, body).await?;
        let filter: Filter = serde_json::from_slice(&body).map_err(bad_filter)?;
        let (filter, limit) = filter.read()?;
        let ledger = protocol.ledger.clone();
        match written(&api, async move { ledger.redrive_all(filter, limit).await }).await {
            Ok(Reply::Event(EventReply::Redriven { ready, too_old, is_cut })) => {
                Ok(json!({ "redriven": ready, "tooOld": too_old, "more": is_cut }))
            }
            other => Err(store_failure(other)),
        }
    };
    respond(answer.await)
}

async fn redrive(
    Extension(api): Extension<Arc<Api>>,
    id: Result<Path<i64>, PathRejection>,
    headers: HeaderMap,
) -> Response<Body> {
    let answer = async {
        api.access.operator(&headers)?;
        let Path(id) = id.map_err(|_| unknown_letter())?;
        let conflict = |slug, why| Problem::new(StatusCode::CONFLICT, slug, why);
        let ledger = api.protocol.ledger.clone();
        match written(&api, async move { ledger.redrive(id).await }).await {
            Ok(Reply::Applied) => Ok(json!({ "status": "ready", "id": id })),
            Ok(Reply::Absent) => Err(unknown_letter()),
            Ok(Reply::Event(EventReply::NotDead)) => {
                Err(conflict("not-dead", "it was redriven, and has not died again"))
            }
            Ok(Reply::Event(EventReply::TooOld)) => {
                Err(conflict("too-old", "it died so long ago that its key may be forgotten"))
            }
            other => Err(store_failure(other)),
        }
    };
    respond(answer.await)
}

fn listed(letter: &DeadLetter) -> Value {
    json!({
        "id": letter.id,
        "queue": letter.queue,
        "about": letter.about,
        "provider": letter.provider,
        "endpoint": letter.endpoint,
        "subscriber": letter.subscriber,
        "payload": letter.payload,
        "error": letter.error,
        "since": date(letter.died_ms),
        "attempts": letter.attempts,
    })
}

fn unknown_letter() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "unknown-letter", "there is no such dead letter (any more)")
}
