//! What is there for whoever watches: `GET /metrics` for a Prometheus (M1), `GET /health` for people and their alarms (M2).
//! Neither takes a token: they tell counts, and nothing of anybody's messages.

use std::sync::Arc;

use axum::{Extension, Router, body::Body, routing::get};
use http::{HeaderValue, Response, header::CONTENT_TYPE};
use serde_json::{Value, json};

use super::{api::Api, status::respond};
use crate::{
    metrics::TEXT_FORMAT,
    signals::{Level, Reading},
};

pub(super) fn routes() -> Router {
    Router::new().route("/metrics", get(metrics)).route("/health", get(health))
}

async fn metrics(Extension(api): Extension<Arc<Api>>) -> Response<Body> {
    let census = api.surveyor.census().await;
    let text = api.protocol.metrics.exposition(census.as_ref());
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT_FORMAT));
    response
}

/// 200 whatever the signals say: they are for people, and a gateway that is taken away because of them helps nobody.
async fn health(Extension(api): Extension<Arc<Api>>) -> Response<Body> {
    let census = api.surveyor.census().await;
    let protocol = &api.protocol;
    let mut vitals = protocol.metrics.vitals(protocol.world.since_boot());
    vitals.dead_letters = census.map(|census| u64::from(census.jobs.dead) + u64::from(census.outbox.dead));
    respond(Ok(report(&vitals.readings(), census.is_some())))
}

fn report(readings: &[Reading], is_store_up: bool) -> Value {
    let worst = readings.iter().map(|reading| reading.level).max().unwrap_or(Level::Ok);
    let store = match is_store_up {
        true => "up",
        false => "down",
    };
    json!({ "status": worst, "store": store, "window": "1h", "signals": readings })
}
