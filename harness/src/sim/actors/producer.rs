//! The host `producer`: does what the plan's steps say, each attempt with the key of its operation.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, header};
use onceproof_gateway::{
    client::{ClientError, Connection},
    fingerprint,
    world::{SharedWorld, within},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::whatsapp::marked;
use crate::{
    history::Event,
    plan::{Scenario, Send},
    sim::{
        stage::{BOOT_MS, Stage},
        wire::HTTP_PORT,
    },
};

/// Its name on the network.
pub const HOST: &str = "producer";
/// The tenant that it sends for.
pub const INSTANCE: &str = "loja-1";
/// That tenant's bearer token.
pub const TOKEN: &str = "token-of-loja-1";
const ROUTE: &str = "messages/text";

/// All producers of a run.
pub struct Producer {
    world: SharedWorld,
    stage: Arc<Stage>,
    scenario: Arc<Scenario>,
    seed: u64,
    calls: AtomicU32,
    steps_left: AtomicU32,
    messages: BTreeMap<String, (String, String)>,
}

/// What an attempt came to.
struct Attempt {
    definite: bool,
}

impl Producer {
    /// The producers of `scenario`.
    #[must_use]
    pub fn new(world: SharedWorld, stage: Arc<Stage>, scenario: Arc<Scenario>, seed: u64) -> Arc<Self> {
        let mut messages = BTreeMap::new();
        for step in &scenario.steps {
            if let (Some(to), Some(text)) = (&step.send.to, &step.send.text) {
                messages.entry(step.send.op.clone()).or_insert((to.clone(), text.clone()));
            }
        }
        let steps_left = AtomicU32::new(scenario.steps.len() as u32);
        Arc::new(Self { world, stage, scenario, seed, calls: AtomicU32::new(0), steps_left, messages })
    }

    /// Does every step at its time.
    pub fn run(self: &Arc<Self>) {
        for index in 0..self.scenario.steps.len() {
            let this = Arc::clone(self);
            self.world.spawn(Box::pin(async move {
                let step = &this.scenario.steps[index];
                this.world.sleep(Duration::from_millis(BOOT_MS + step.at.ms())).await;
                this.send_by_all(&step.send).await;
                if this.steps_left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    this.stage.finish();
                }
            }));
        }
    }

    async fn send_by_all(&self, send: &Send) {
        let all = (0..send.times).map(|number| self.send_until_definite(send, number));
        futures::future::join_all(all).await;
    }

    async fn send_until_definite(&self, send: &Send, number: u32) {
        let pauses = send.retry.as_ref().unwrap_or(&self.scenario.world.producer.retry);
        for attempt in 0..=pauses.len() as u32 {
            let via = &send.via[(number + attempt) as usize % send.via.len()];
            if self.attempt(send, via, attempt + 1).await.definite {
                return;
            }
            if let Some(pause) = pauses.get(attempt as usize) {
                self.world.sleep(Duration::from_millis(pause.ms())).await;
            }
        }
        self.record(Event::GaveUp { op: send.op.clone() });
    }

    async fn attempt(&self, send: &Send, via: &str, attempt: u32) -> Attempt {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let (to, text) = self.messages.get(&send.op).cloned().unwrap_or_default();
        let body = json!({ "to": to, "text": marked(&text, &send.op) }).to_string();
        let key = key(self.seed, send.key_of.as_ref().unwrap_or(&send.op));
        self.record(Event::Request {
            op: send.op.clone(),
            call,
            attempt,
            to: via.into(),
            scope: format!("{INSTANCE}/{ROUTE}"),
            key: Some(key.clone()),
            content: fingerprint::canonical_digest(body.as_bytes()).unwrap_or_default(),
        });
        let limit = Duration::from_millis(self.scenario.world.producer.timeout.ms());
        let answer = within(&*self.world, limit, self.exchange(via, &key, body, limit)).await;
        let (event, definite) = match answer {
            Some(Ok(response)) => (response_event(send, call, &response), is_definite(&response)),
            Some(Err(error)) => (no_response(send, call, error.to_string()), false),
            None => (no_response(send, call, "timeout".into()), false),
        };
        self.record(event);
        Attempt { definite }
    }

    async fn exchange(
        &self,
        via: &str,
        key: &str,
        body: String,
        limit: Duration,
    ) -> Result<Response<Bytes>, ClientError> {
        let request = Request::post(format!("/v1/instances/{INSTANCE}/{ROUTE}"))
            .header(header::HOST, via)
            .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", key)
            .body(Bytes::from(body))
            .expect("a request of checked parts");
        let connection = Connection::open(&self.world, via, HTTP_PORT, limit).await?;
        connection.send(request, limit).await
    }

    fn record(&self, event: Event) {
        self.stage.record(self.world.since_boot().as_millis() as u64, HOST, event);
    }
}

/// The key of an operation: made once with the job, from the run's seed, and borne by every attempt (S12).
fn key(seed: u64, op: &str) -> String {
    let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(op).finalize();
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a producer stops here: the provider's or the gateway's last word on this content.
fn is_definite(response: &Response<Bytes>) -> bool {
    let status = response.status();
    status.is_success() || (status.is_client_error() && !matches!(status.as_u16(), 408 | 409 | 425 | 429))
}

fn no_response(send: &Send, call: u32, reason: String) -> Event {
    Event::NoResponse { op: send.op.clone(), call, reason }
}

fn response_event(send: &Send, call: u32, response: &Response<Bytes>) -> Event {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    let problem = body["type"].as_str().and_then(|name| name.rsplit(':').next());
    Event::Response {
        op: send.op.clone(),
        call,
        status: response.status().as_u16(),
        replay: header("x-idempotent-replay") == Some("true"),
        message_id: body["messageId"].as_str().map(str::to_owned),
        problem: problem.map(str::to_owned),
        digest: digest(response),
    }
}

/// Equal for equal answers: status, allow-listed headers, body (S2).
fn digest(response: &Response<Bytes>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(response.status().as_u16().to_le_bytes());
    for name in ["content-type", "location"] {
        let value = response.headers().get(name).map(|value| value.as_bytes());
        hasher.update(value.unwrap_or_default());
        hasher.update([0]);
    }
    hasher.update(response.body());
    hasher.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
