//! The provider's API.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::{get, post},
};
use onceproof_gateway::{http::serve, world::SharedWorld};
use serde::Deserialize;
use serde_json::Value;

use super::{answer::Answer, ledger::Ledger, webhooks::Sender};
use crate::{
    history::{Ability, Event},
    plan::{Scenario, ScriptedAnswer},
    sim::{stage::Stage, wire::HTTP_PORT},
};

/// Its name on the network.
pub const HOST: &str = "whatsapp";

/// How long it thinks before it answers, unless a plan says otherwise.
const THINKS_MS: u64 = 3;

/// The provider, whose ledger outlives its host.
#[derive(Clone)]
pub struct Provider {
    inner: Arc<Inner>,
}

struct Inner {
    stage: Arc<Stage>,
    scenario: Arc<Scenario>,
    ability: Ability,
    script: Vec<ScriptedAnswer>,
    key_retention_ms: u64,
    ledger: Mutex<Ledger>,
}

/// A request for an effect, read.
struct Asked {
    op: String,
    reference: Option<String>,
    key: Option<String>,
}

/// What it comes to.
struct Decision {
    request: u32,
    answer: Answer,
    /// The id of the effect that this request has, if it has one.
    acts: Option<String>,
    replay: bool,
    scripted: bool,
    thinks_ms: u64,
}

impl Decision {
    fn stalls(&self, asked: &Asked) -> Event {
        Event::ProviderStalls {
            op: asked.op.clone(),
            request: self.request,
            reference: asked.reference.clone(),
            for_ms: self.thinks_ms,
        }
    }
}

impl Provider {
    /// A provider with an empty ledger that remembers keys for `key_retention_ms`, if it takes them at all.
    #[must_use]
    pub fn new(stage: Arc<Stage>, ability: Ability, scenario: &Arc<Scenario>, key_retention_ms: u64) -> Self {
        let inner = Inner {
            stage,
            scenario: Arc::clone(scenario),
            ability,
            script: scenario.answers.clone(),
            key_retention_ms,
            ledger: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The id and the reference of the message that an operation sent last, if it sent any.
    pub(super) fn sent(&self, op: &str) -> Option<(String, Option<String>)> {
        self.inner.lock().sent(op)
    }

    /// Whether its statuses bear our reference.
    pub(super) fn echoes(&self) -> bool {
        self.inner.ability == Ability::Echoing
    }

    /// Delivers what the plan says, and serves for ever.
    ///
    /// # Errors
    /// When the port cannot be bound.
    pub async fn serve(self, world: SharedWorld) -> io::Result<()> {
        Sender::new(&world, &self.inner.stage, &self.inner.scenario, &self).run();
        let here = (self, Arc::clone(&world));
        let router = Router::new()
            .route("/{phone_number_id}/messages", post(act).get(find))
            .route("/{phone_number_id}/media", post(keep_media))
            .route("/instances", post(act).get(find))
            .fallback(get(nothing).post(nothing))
            .with_state(here);
        serve(world, HTTP_PORT, router).await
    }
}

type Here = State<(Provider, SharedWorld)>;

/// A message goes out, or an instance is made: whatever has an effect.
async fn act(State((provider, world)): Here, headers: HeaderMap, body: Bytes) -> Response {
    let inner = &provider.inner;
    let Ok(content) = serde_json::from_slice::<Value>(&body) else {
        return plain(StatusCode::BAD_REQUEST);
    };
    let asked = inner.read(&headers, &content);
    let decision = inner.decide(now_ms(&world), &asked);
    if let Some(message_id) = &decision.acts {
        let (reference, message_id) = (asked.reference.clone(), message_id.clone());
        inner.stage.effect(now_ms(&world), HOST, &asked.op, reference, message_id).await;
    }
    if decision.thinks_ms > THINKS_MS {
        inner.stage.record(now_ms(&world), HOST, decision.stalls(&asked));
    }
    world.sleep(Duration::from_millis(decision.thinks_ms)).await;
    let event = Event::ProviderAnswer {
        op: asked.op,
        request: decision.request,
        reference: asked.reference,
        key: asked.key,
        status: decision.answer.status.as_u16(),
        replay: decision.replay,
        scripted: decision.scripted,
    };
    inner.stage.record(now_ms(&world), HOST, event);
    decision.answer.response()
}

/// Which message is asked for.
#[derive(Deserialize)]
struct Sought {
    reference: String,
}

/// Whether a message went out, for whoever lost the answer; a provider that cannot be asked has no such page.
async fn find(State((provider, world)): Here, Query(sought): Query<Sought>) -> Response {
    let inner = &provider.inner;
    if inner.ability != Ability::Queryable {
        return plain(StatusCode::METHOD_NOT_ALLOWED);
    }
    let message_id = inner.lock().by_reference(&sought.reference);
    let found = message_id.is_some();
    let event = Event::Query { reference: sought.reference, found };
    inner.stage.record(now_ms(&world), HOST, event);
    let status = if found { StatusCode::OK } else { StatusCode::NOT_FOUND };
    Answer { status, message_id, body: None, retry_after: None }.response()
}

/// Keeps a file that a later message refers to. Nothing goes out.
async fn keep_media(State((provider, _)): Here, body: Bytes) -> Response {
    let id = provider.inner.lock().keep_media(String::from_utf8_lossy(&body).into_owned());
    axum::response::IntoResponse::into_response(axum::Json(serde_json::json!({ "id": id })))
}

async fn nothing() -> Response {
    plain(StatusCode::NOT_FOUND)
}

fn plain(status: StatusCode) -> Response {
    Answer { status, message_id: None, body: None, retry_after: None }.response()
}

fn now_ms(world: &SharedWorld) -> u64 {
    world.since_boot().as_millis() as u64
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("a panic in the provider ends the run")
    }

    fn read(&self, headers: &HeaderMap, content: &Value) -> Asked {
        let mut marked = content.to_string();
        // A message that refers to a file bears the marker in it.
        for media in content.as_object().into_iter().flat_map(|fields| fields.values()) {
            if let Some(file) = media["id"].as_str().and_then(|id| self.lock().media(id).map(str::to_owned)) {
                marked.push_str(&file);
            }
        }
        let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok());
        Asked {
            op: self.stage.operation(&marked).to_owned(),
            reference: content["biz_opaque_callback_data"].as_str().map(str::to_owned),
            key: key.map(str::to_owned),
        }
    }

    fn decide(&self, now_ms: u64, asked: &Asked) -> Decision {
        let mut ledger = self.lock();
        let request = ledger.next_request();
        let scripted = self.script.iter().find(|answer| answer.request == request);
        let key = asked.key.as_deref().filter(|_| self.ability == Ability::Keyed);
        let known = key.and_then(|key| ledger.by_key(now_ms, key));
        let replay = known.is_some();
        let acts = (!replay && scripted.is_none_or(|answer| answer.acts)).then(|| {
            let until_ms = now_ms + self.key_retention_ms;
            ledger.act(&asked.op, key.map(|key| (key, until_ms)), asked.reference.as_deref())
        });
        let status = scripted.map_or(200, |answer| answer.status);
        let answer = Answer {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            message_id: known.or_else(|| acts.clone()),
            body: scripted.and_then(|answer| answer.body),
            retry_after: scripted.and_then(|answer| answer.retry_after),
        };
        let thinks_ms = scripted.and_then(|answer| answer.after).map_or(THINKS_MS, |after| after.ms());
        Decision { request, answer, acts, replay, scripted: scripted.is_some(), thinks_ms }
    }
}
