//! The host `whatsapp`: a provider after the WhatsApp Cloud API, its ledger of effects, and what a plan makes
//! it say against the truth.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use onceproof_gateway::{http::serve, world::SharedWorld};
use serde::Deserialize;

use crate::{
    history::{Ability, Event},
    plan::ScriptedAnswer,
    sim::{stage::Stage, wire::HTTP_PORT},
};

/// Its name on the network.
pub const HOST: &str = "whatsapp";

/// How long it thinks before it answers.
const THINKS_MS: u64 = 3;

/// The provider, whose ledger outlives its host.
#[derive(Clone)]
pub struct Provider {
    inner: Arc<Inner>,
}

struct Inner {
    stage: Arc<Stage>,
    ability: Ability,
    script: Vec<ScriptedAnswer>,
    key_retention_ms: u64,
    ledger: Mutex<Ledger>,
}

#[derive(Default)]
struct Ledger {
    requests: u32,
    messages: u32,
    /// By idempotency key: when its retention ends, and the id that was given.
    keys: BTreeMap<String, (u64, String)>,
}

/// A request as the provider reads it.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    biz_opaque_callback_data: Option<String>,
    text: Text,
}

#[derive(Deserialize)]
struct Text {
    body: String,
}

/// What a request comes to.
struct Decision {
    request: u32,
    status: u16,
    message_id: Option<String>,
    acts: bool,
    replay: bool,
    scripted: bool,
}

impl Provider {
    /// A provider with an empty ledger that remembers keys for `key_retention_ms`, if it takes them at all.
    #[must_use]
    pub fn new(
        stage: Arc<Stage>,
        ability: Ability,
        script: Vec<ScriptedAnswer>,
        key_retention_ms: u64,
    ) -> Self {
        let ledger = Mutex::new(Ledger::default());
        Self { inner: Arc::new(Inner { stage, ability, script, key_retention_ms, ledger }) }
    }

    /// Serves for ever.
    ///
    /// # Errors
    /// When the port cannot be bound.
    pub async fn serve(self, world: SharedWorld) -> io::Result<()> {
        let here = (self, Arc::clone(&world));
        let router = Router::new().route("/{phone_number_id}/messages", post(messages)).with_state(here);
        serve(world, HTTP_PORT, router).await
    }
}

async fn messages(
    State((provider, world)): State<(Provider, SharedWorld)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Ok(message) = serde_json::from_slice::<Message>(&body) else {
        return refusal(StatusCode::BAD_REQUEST, "not a message");
    };
    let op = operation(&message.text.body).to_owned();
    let reference = message.biz_opaque_callback_data;
    let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok());
    let inner = &provider.inner;
    let decision = inner.decide(now_ms(&world), key);
    if decision.acts {
        let message_id = decision.message_id.clone().unwrap_or_default();
        inner.stage.effect(now_ms(&world), HOST, &op, reference.clone(), message_id).await;
    }
    world.sleep(Duration::from_millis(THINKS_MS)).await;
    inner.stage.record(
        now_ms(&world),
        HOST,
        Event::ProviderAnswer {
            op,
            request: decision.request,
            reference,
            status: decision.status,
            replay: decision.replay,
            scripted: decision.scripted,
        },
    );
    answer(&decision)
}

fn now_ms(world: &SharedWorld) -> u64 {
    world.since_boot().as_millis() as u64
}

impl Inner {
    fn decide(&self, now_ms: u64, key: Option<&str>) -> Decision {
        let mut ledger = self.ledger.lock().expect("a panic in the provider ends the run");
        ledger.requests += 1;
        let request = ledger.requests;
        let scripted = self.script.iter().find(|answer| answer.request == request);
        let remembered = key.filter(|_| self.ability == Ability::Keyed).and_then(|key| {
            let (until_ms, message_id) = ledger.keys.get(key)?;
            (now_ms < *until_ms).then(|| message_id.clone())
        });
        let replay = remembered.is_some();
        let acts = !replay && scripted.is_none_or(|answer| answer.acts);
        let message_id = remembered.or_else(|| acts.then(|| ledger.give_id()));
        if let (true, Some(key), Some(message_id)) = (acts, key, &message_id) {
            ledger.keys.insert(key.into(), (now_ms + self.key_retention_ms, message_id.clone()));
        }
        let status = scripted.map_or(200, |answer| answer.status);
        Decision { request, status, message_id, acts, replay, scripted: scripted.is_some() }
    }
}

impl Ledger {
    fn give_id(&mut self) -> String {
        self.messages += 1;
        format!("wamid.{}", self.messages)
    }
}

fn answer(decision: &Decision) -> Response {
    let status = StatusCode::from_u16(decision.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match &decision.message_id {
        Some(id) if status.is_success() => {
            json(status, &serde_json::json!({ "messaging_product": "whatsapp", "messages": [{ "id": id }] }))
        }
        _ if status.is_server_error() => (status, "internal error").into_response(),
        _ => refusal(status, "refused"),
    }
}

fn refusal(status: StatusCode, message: &str) -> Response {
    json(status, &serde_json::json!({ "error": { "code": status.as_u16(), "message": message } }))
}

fn json(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// The marker that a producer puts at the end of each text: `… [cart-7]`.
fn operation(text: &str) -> &str {
    match (text.rfind('['), text.strip_suffix(']')) {
        (Some(open), Some(closed)) => &closed[open + 1..],
        _ => "unmarked",
    }
}

/// A text with its marker, so that an effect is attributed whatever the gateway did with the key.
#[must_use]
pub fn marked(text: &str, op: &str) -> String {
    format!("{text} [{op}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_survives_any_text() {
        for text in ["Seu carrinho espera", "a [b] c", "", "]["] {
            assert_eq!(operation(&marked(text, "cart-7")), "cart-7");
        }
        assert_eq!(operation("no marker"), "unmarked");
    }
}
