//! Stage 3: a job is one send, under a key from the domain (W7), and before it is tried again the gateway is asked (S11).

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, header, request::Builder};
use onceproof_gateway::{
    client::Connection,
    hex,
    world::{BoxFuture, SharedWorld},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    history::Event,
    sim::{actors::producer::tenant, clock, stage::Stage, wire::HTTP_PORT},
    subject::bullmq::{Job, Processor, Queue},
};

/// The one address of the gateway that is in the worker's configuration.
const GATEWAY: &str = "gateway-1";
/// How long a worker waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends what jobs ask for.
pub struct Sends {
    inner: Arc<Inner>,
}

struct Inner {
    world: SharedWorld,
    host: String,
    stage: Arc<Stage>,
    jobs: Queue,
}

impl Sends {
    /// Sends from `host`, and keeps what it is told in the jobs of this queue.
    pub fn new(world: &SharedWorld, host: &str, stage: &Arc<Stage>, jobs: Queue) -> Self {
        let inner = Inner { world: world.clone(), host: host.into(), stage: Arc::clone(stage), jobs };
        Self { inner: Arc::new(inner) }
    }
}

impl Processor for Sends {
    fn process(&self, job: Job) -> BoxFuture<Result<(), String>> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move { inner.send(job).await })
    }

    /// There are no dead letters: BullMQ keeps a job that has failed, and nobody is told (W8).
    fn failed(&self, _job: Job, _why: String) -> BoxFuture<()> {
        Box::pin(async {})
    }
}

impl Inner {
    async fn send(&self, job: Job) -> Result<(), String> {
        if job.attempts_made > 0 && self.is_delivered(&job).await? {
            return Ok(());
        }
        let field = |name: &str| job.data[name].as_str().unwrap_or_default();
        let (instance, to) = (field("instanceId"), field("to"));
        let key = key(instance, to, field("eventId"));
        self.tell(Event::WorkerSend {
            op: self.operation(&job),
            attempt: job.attempts_made + 1,
            scope: format!("{instance}/messages"),
            key: key.clone(),
        });
        let body = json!({ "to": to, "type": "text", "text": { "body": field("body") } }).to_string();
        let request = Request::post(format!("/v1/instances/{instance}/messages"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", &key);
        let answer = self.ask(instance, request, body).await?;
        if answer.status().is_success() {
            return Ok(());
        }
        let told: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        if let Some(reference) = told["reference"].as_str() {
            self.remember(job.clone(), reference).await?;
        }
        Err(format!("the gateway says {}", answer.status().as_u16()))
    }

    /// The message of an earlier attempt, if its id is known: one that has arrived is not sent again.
    async fn is_delivered(&self, job: &Job) -> Result<bool, String> {
        let Some(id) = job.data["zapMessageId"].as_str() else { return Ok(false) };
        let instance = job.data["instanceId"].as_str().unwrap_or_default();
        let request = Request::get(format!("/v1/messages/{id}/status"));
        let answer = self.ask(instance, request, String::new()).await?;
        let told: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        let says =
            told["delivery"].as_str().or(told["status"].as_str()).filter(|_| answer.status().is_success());
        self.tell(Event::LookUp {
            op: self.operation(job),
            by: "reference".into(),
            status: Some(answer.status().as_u16()),
            says: says.map(str::to_owned),
        });
        match says {
            Some(says) => Ok(matches!(says, "delivered" | "read")),
            // Whoever asked for the answer throws, and nothing is sent.
            None => Err(format!("the gateway says {} of {id}", answer.status().as_u16())),
        }
    }

    async fn ask(&self, instance: &str, request: Builder, body: String) -> Result<Response<Bytes>, String> {
        let request = request
            .header(header::HOST, GATEWAY)
            .header(header::AUTHORIZATION, format!("Bearer {}", tenant(instance).token))
            .body(Bytes::from(body))
            .map_err(|error| error.to_string())?;
        let connection = Connection::open(&self.world, GATEWAY, HTTP_PORT, PATIENCE).await;
        let answer = connection.map_err(|error| error.to_string())?.send(request, PATIENCE).await;
        answer.map_err(|error| error.to_string())
    }

    /// What the message is known by, should the next attempt want to ask.
    async fn remember(&self, mut job: Job, id: &str) -> Result<(), String> {
        job.data["zapMessageId"] = id.into();
        self.jobs.update(&job).await.map_err(|error| error.to_string())
    }

    fn operation(&self, job: &Job) -> String {
        self.stage.operation(&job.data.to_string()).into()
    }

    fn tell(&self, event: Event) {
        self.stage.record(clock::ms(self.world.since_boot()), &self.host, event);
    }
}

/// From the domain, and not from the job.
fn key(instance: &str, to: &str, event_id: &str) -> String {
    hex::encode(&Sha256::digest(format!("{instance}|{to}|{event_id}")))
}
