//! `stub-provider`: a small provider after the WhatsApp Cloud API, to play with.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Query, State},
    http::{HeaderMap, StatusCode, Uri},
    routing::post,
};
use clap::{Args, ValueEnum};
use onceproof_gateway::{http::serve_on, real::TokioWorld};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{Failure, serve::running};

#[derive(Debug, Args)]
pub struct Options {
    /// Its port on the loopback address; 0 takes a free one.
    #[arg(long)]
    port: u16,
    /// What it can do about a request whose answer was lost.
    #[arg(long, value_enum, default_value = "opaque")]
    ability: Ability,
    /// How long it takes over each message.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ability {
    /// It takes an `Idempotency-Key`.
    Keyed,
    /// It tells by our reference what it sent.
    Queryable,
    /// Neither.
    Opaque,
}

struct Stub {
    ability: Ability,
    delay: Duration,
    /// Ids, by key and by reference.
    sent: Mutex<Sent>,
}

#[derive(Default)]
struct Sent {
    effects: u32,
    files: u32,
    ids: BTreeMap<(&'static str, String), String>,
}

/// Serves for ever, and prints the address and then each effect.
pub fn serve(options: Options) -> Result<(), Failure> {
    let delay = Duration::from_millis(options.delay_ms);
    let stub = Arc::new(Stub { ability: options.ability, delay, sent: Mutex::default() });
    let router = Router::new()
        .route("/{phone_number_id}/messages", post(act).get(find))
        .route("/instances", post(act).get(find))
        .route("/{phone_number_id}/media", post(keep))
        .layer(DefaultBodyLimit::max(80 * 1024 * 1024))
        .with_state(stub);
    Runtime::new().map_err(running)?.block_on(async {
        let world = TokioWorld::shared();
        let listener = world.listen(options.port).await.map_err(running)?;
        println!("listening on http://127.0.0.1:{}", listener.port());
        serve_on(world, listener, router).await.map_err(running)
    })
}

type Answer = (StatusCode, Json<Value>);

async fn act(State(stub): State<Arc<Stub>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Answer {
    let Ok(content) = serde_json::from_slice::<Value>(&body) else {
        return refused(StatusCode::BAD_REQUEST, "not JSON");
    };
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok());
    let key = key.filter(|_| stub.ability == Ability::Keyed);
    let id = stub.act(key, &uri, &content);
    tokio::time::sleep(stub.delay).await;
    accepted(&id)
}

async fn find(State(stub): State<Arc<Stub>>, Query(query): Query<BTreeMap<String, String>>) -> Answer {
    if stub.ability != Ability::Queryable {
        return refused(StatusCode::METHOD_NOT_ALLOWED, "this provider cannot be asked");
    }
    let reference = query.get("reference").cloned().unwrap_or_default();
    let sent = stub.sent.lock().unwrap_or_else(PoisonError::into_inner);
    match sent.ids.get(&("reference", reference)) {
        Some(id) => accepted(id),
        None => refused(StatusCode::NOT_FOUND, "no such message"),
    }
}

async fn keep(State(stub): State<Arc<Stub>>, _body: Bytes) -> Answer {
    let mut sent = stub.sent.lock().unwrap_or_else(PoisonError::into_inner);
    sent.files += 1;
    (StatusCode::OK, Json(json!({ "id": format!("media.{}", sent.files) })))
}

impl Stub {
    /// The id that was given to this key, or that of a new effect.
    fn act(&self, key: Option<&str>, uri: &Uri, content: &Value) -> String {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = key.and_then(|key| sent.ids.get(&("key", key.to_owned())));
        if let Some(id) = known {
            return id.clone();
        }
        sent.effects += 1;
        let id = format!("wamid.{}", sent.effects);
        println!("effect {}: {id} {} {content}", sent.effects, uri.path());
        let reference = content["biz_opaque_callback_data"].as_str();
        for (kind, name) in [("key", key), ("reference", reference)] {
            if let Some(name) = name {
                sent.ids.insert((kind, name.to_owned()), id.clone());
            }
        }
        id
    }
}

fn accepted(id: &str) -> Answer {
    (StatusCode::OK, Json(json!({ "messaging_product": "whatsapp", "messages": [{ "id": id }] })))
}

fn refused(status: StatusCode, why: &str) -> Answer {
    (status, Json(json!({ "error": { "code": status.as_u16(), "message": why } })))
}
