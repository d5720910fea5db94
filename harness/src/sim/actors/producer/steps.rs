//! Does what the plan's steps say, each attempt with the key of its operation.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, header};
use onceproof_gateway::{
    client::{ClientError, Connection},
    world::{SharedWorld, within},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{
    answer::Answer,
    request::{content, key, request, scope},
    tenants::{ADMIN_TOKEN, tenant},
};
use crate::{
    history::Event,
    plan::{KnownBy, LookUp, OperatorVerdict, Redrive, Resolve, Scenario, Send, Step, TokenKind},
    sim::{
        stage::{BOOT_MS, Stage},
        wire::HTTP_PORT,
    },
};

/// Its name on the network.
pub const HOST: &str = "producer";

/// All producers of a run, and the operator.
pub struct Producer {
    world: SharedWorld,
    stage: Arc<Stage>,
    scenario: Arc<Scenario>,
    seed: u64,
    /// The last message id and reference that anybody heard of an operation.
    heard: Mutex<BTreeMap<String, Heard>>,
}

/// What anybody last heard of an operation.
#[derive(Debug, Clone, Default)]
struct Heard {
    message_id: Option<String>,
    reference: Option<String>,
    /// The number of its dead letter.
    letter: Option<i64>,
}

impl Producer {
    /// The producers of `scenario`.
    #[must_use]
    pub fn new(world: SharedWorld, stage: Arc<Stage>, scenario: Arc<Scenario>, seed: u64) -> Arc<Self> {
        Arc::new(Self { world, stage, scenario, seed, heard: Mutex::default() })
    }

    /// Does every step of its own at its time; the others are the sender's of webhooks.
    pub fn run(self: &Arc<Self>) {
        for index in 0..self.scenario.steps.len() {
            if self.scenario.steps[index].is_delivery() {
                continue;
            }
            let this = Arc::clone(self);
            self.world.spawn(Box::pin(async move {
                let step = &this.scenario.steps[index];
                this.world.sleep(Duration::from_millis(BOOT_MS + step.at.ms())).await;
                this.step(step).await;
                this.stage.step_done();
            }));
        }
    }

    async fn step(&self, step: &Step) {
        if let Some(send) = &step.send {
            let all = (0..send.times).map(|number| self.send_until_definite(send, number));
            futures::future::join_all(all).await;
        }
        if let Some(look_up) = &step.look_up {
            self.look_up(look_up).await;
        }
        if let Some(resolve) = &step.resolve {
            self.resolve(resolve).await;
        }
        if let Some(redrive) = &step.redrive {
            futures::future::join_all((0..redrive.times).map(|_| self.redrive(redrive))).await;
        }
    }

    async fn send_until_definite(&self, send: &Send, number: u32) {
        let pauses = send.retry.as_ref().unwrap_or(&self.scenario.world.producer.retry);
        for attempt in 0..=pauses.len() as u32 {
            let via = &send.via[(number + attempt) as usize % send.via.len()];
            if self.attempt(send, via, attempt + 1).await {
                return;
            }
            if let Some(pause) = pauses.get(attempt as usize) {
                self.world.sleep(Duration::from_millis(pause.ms())).await;
            }
        }
        self.record(Event::GaveUp { op: send.op.clone() });
    }

    /// One attempt; whether its answer is definite.
    async fn attempt(&self, send: &Send, via: &str, attempt: u32) -> bool {
        let call = self.stage.next_call();
        let content = content(&self.scenario, send);
        self.record(Event::Request {
            op: send.op.clone(),
            call,
            attempt,
            to: via.into(),
            scope: scope(send),
            key: key(self.seed, send),
            content: content.digest.clone(),
            authorized: matches!(send.token, TokenKind::Current | TokenKind::Rotated),
        });
        let answer = match request(self.seed, via, send, content) {
            Ok(request) => self.call(via, request, send.cut_upload).await,
            Err(error) => Err(error.to_string()),
        };
        let (event, definite) = match &answer {
            Ok(answer) => (answer.event(&send.op, call), answer.is_definite()),
            Err(reason) => (Event::NoResponse { op: send.op.clone(), call, reason: reason.clone() }, false),
        };
        if let Ok(answer) = answer {
            self.hear(&send.op, answer);
        }
        self.record(event);
        definite
    }

    /// One exchange within a producer's patience, or why there was none.
    async fn call(&self, via: &str, request: Request<Bytes>, cut: bool) -> Result<Answer, String> {
        let limit = Duration::from_millis(self.scenario.world.producer.timeout.ms());
        let exchange = async {
            match cut {
                false => self.exchange(via, request, limit).await.map_err(|error| error.to_string()),
                true => self.begin_and_hang_up(via, &request).await,
            }
        };
        match within(&*self.world, limit, exchange).await {
            Some(response) => response.map(|response| Answer::of(&response)),
            None => Err("timeout".into()),
        }
    }

    async fn exchange(
        &self,
        via: &str,
        request: Request<Bytes>,
        limit: Duration,
    ) -> Result<Response<Bytes>, ClientError> {
        Connection::open(&self.world, via, HTTP_PORT, limit).await?.send(request, limit).await
    }

    /// Announces the whole body, sends half of it, and is gone.
    async fn begin_and_hang_up(
        &self,
        via: &str,
        request: &Request<Bytes>,
    ) -> Result<Response<Bytes>, String> {
        use tokio::io::AsyncWriteExt as _;
        let body = request.body();
        let mut head = format!("POST {} HTTP/1.1\r\ncontent-length: {}\r\n", request.uri(), body.len());
        for (name, value) in request.headers() {
            head.push_str(&format!("{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes())));
        }
        head.push_str("\r\n");
        let told = |error: std::io::Error| error.to_string();
        let mut connection = self.world.connect(via, HTTP_PORT).await.map_err(told)?;
        connection.write_all(head.as_bytes()).await.map_err(told)?;
        connection.write_all(&body[..body.len() / 2]).await.map_err(told)?;
        self.world.sleep(Duration::from_millis(100)).await;
        Err("the upload was cut".into())
    }

    /// Asks what became of a message (S11).
    async fn look_up(&self, look_up: &LookUp) {
        let Some(send) = self.scenario.first_send(&look_up.op) else { return };
        let Heard { message_id, reference, .. } = self.heard_of(&look_up.op);
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let path = match look_up.by {
            KnownBy::Id => format!("/v1/messages/{}/status", encode(&message_id.unwrap_or_default())),
            KnownBy::Reference => format!("/v1/messages/{}/status", encode(&reference.unwrap_or_default())),
            KnownBy::Key => format!(
                "/v1/instances/{}/keys/{}/{}/status",
                send.instance,
                encode(&send.route),
                encode(&key(self.seed, send).unwrap_or_default())
            ),
        };
        let request = Request::get(path)
            .header(header::HOST, &look_up.via)
            .header(header::AUTHORIZATION, format!("Bearer {}", tenant(&send.instance).token))
            .body(Bytes::new());
        let answer = self.ask(&look_up.via, request).await;
        let by = match look_up.by {
            KnownBy::Id => "id",
            KnownBy::Reference => "reference",
            KnownBy::Key => "key",
        };
        let (status, says) = answer.map_or((None, None), |answer| (Some(answer.status), answer.says));
        self.record(Event::LookUp { op: look_up.op.clone(), by: by.into(), status, says });
    }

    /// Settles an unknown message by an operator's word.
    async fn resolve(&self, resolve: &Resolve) {
        let Heard { reference, .. } = self.heard_of(&resolve.op);
        let verdict = match resolve.verdict {
            OperatorVerdict::Sent => "sent",
            OperatorVerdict::NotSent => "not-sent",
        };
        let request = Request::post(format!("/admin/unknown/{}/resolve", reference.unwrap_or_default()))
            .header(header::HOST, &resolve.via)
            .header(header::AUTHORIZATION, format!("Bearer {ADMIN_TOKEN}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Bytes::from(json!({ "as": verdict }).to_string()));
        let answer = self.ask(&resolve.via, request).await;
        let (status, problem) = answer.map_or((None, None), |answer| (Some(answer.status), answer.problem));
        self.record(Event::Resolve { op: resolve.op.clone(), verdict: verdict.into(), status, problem });
    }

    /// Brings a dead letter back, which an operator finds in the list, or remembers.
    async fn redrive(&self, redrive: &Redrive) {
        let listed = self.listed(redrive).await;
        let answer = match listed.or(self.heard_of(&redrive.op).letter) {
            Some(letter) => {
                self.lock().entry(redrive.op.clone()).or_default().letter = Some(letter);
                let request = Request::post(format!("/admin/dead-letters/{letter}/redrive"))
                    .header(header::HOST, &redrive.via)
                    .header(header::AUTHORIZATION, format!("Bearer {ADMIN_TOKEN}"))
                    .body(Bytes::new());
                self.ask(&redrive.via, request).await
            }
            None => None,
        };
        let (status, problem) = answer.map_or((None, None), |answer| (Some(answer.status), answer.problem));
        self.record(Event::Redrive { op: redrive.op.clone(), status, problem });
    }

    /// The number of the dead letter that bears the marker.
    async fn listed(&self, redrive: &Redrive) -> Option<i64> {
        let request = Request::get("/admin/dead-letters")
            .header(header::HOST, &redrive.via)
            .header(header::AUTHORIZATION, format!("Bearer {ADMIN_TOKEN}"))
            .body(Bytes::new())
            .ok()?;
        let limit = Duration::from_millis(self.scenario.world.producer.timeout.ms());
        let exchange = self.exchange(&redrive.via, request, limit);
        let response = within(&*self.world, limit, exchange).await?.ok()?;
        let body: Value = serde_json::from_slice(response.body()).ok()?;
        let is_this = |letter: &&Value| {
            letter["payload"].as_str().is_some_and(|payload| self.stage.operation(payload) == redrive.op)
        };
        body["deadLetters"].as_array()?.iter().find(is_this)?["id"].as_i64()
    }

    async fn ask(&self, via: &str, request: http::Result<Request<Bytes>>) -> Option<Answer> {
        self.call(via, request.ok()?, false).await.ok()
    }

    fn hear(&self, op: &str, answer: Answer) {
        let mut heard = self.lock();
        let known = heard.entry(op.into()).or_default();
        known.message_id = answer.message_id.or(known.message_id.take());
        known.reference = answer.reference.or(known.reference.take());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Heard>> {
        self.heard.lock().expect("a panic in a producer ends the run")
    }

    fn heard_of(&self, op: &str) -> Heard {
        self.lock().get(op).cloned().unwrap_or_default()
    }

    fn record(&self, event: Event) {
        self.stage.record(self.world.since_boot().as_millis() as u64, HOST, event);
    }
}
