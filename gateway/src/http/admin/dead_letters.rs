//! What nobody tries any more, and bringing it back (W8).

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Body,
    extract::{Path, rejection::PathRejection},
    routing::{get, post},
};
use http::{HeaderMap, Response, StatusCode};
use serde_json::{Value, json};

use super::{LISTED, date, store_failure};
use crate::{
    http::{Problem, api::Api, status::respond},
    store::{DeadLetter, EventReply, Reply},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/admin/dead-letters", get(list))
        .route("/admin/dead-letters/{id}/redrive", post(redrive))
}

async fn list(Extension(api): Extension<Arc<Api>>, headers: HeaderMap) -> Response<Body> {
    let answer = async {
        api.access.operator(&headers)?;
        match api.protocol.ledger.list_dead(LISTED).await {
            Ok(Reply::Event(EventReply::Dead { letters, is_cut })) => {
                let letters: Vec<Value> = letters.iter().map(listed).collect();
                Ok(json!({ "deadLetters": letters, "more": is_cut }))
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
        match api.protocol.ledger.redrive(id).await {
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
        "payload": letter.payload,
        "error": letter.error,
        "since": date(letter.died_ms),
        "attempts": letter.attempts,
    })
}

fn unknown_letter() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "unknown-letter", "there is no such dead letter (any more)")
}
