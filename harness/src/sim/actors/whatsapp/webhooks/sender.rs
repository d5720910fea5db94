//! Delivers what the plan says, each delivery until it is answered with a 2xx (W1).

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, header};
use onceproof_gateway::{
    client::Connection,
    world::{SharedWorld, within},
};
use serde_json::Value;

use super::{
    envelope::{NOBODY, body, message_id, path, status},
    flaw::spoilt,
    signature::sign,
};
use crate::{
    history::Event,
    plan::{Deliver, DeliverStatus, Flaw, Scenario, SignatureKind, SignatureScheme, Span, Step},
    sim::{
        actors::whatsapp::{HOST, Provider},
        stage::{BOOT_MS, Stage},
        wire::HTTP_PORT,
    },
};

/// An event that is acknowledged is only begun. A run goes on for so long, that faults may strike whoever works on it: two
/// workers that die on one job take two leases, and five attempts at a job that fails not even that.
const WORKERS_TAKE: Duration = Duration::from_secs(5 * 60);

/// The sender of all webhooks of a run.
pub struct Sender {
    world: SharedWorld,
    stage: Arc<Stage>,
    scenario: Arc<Scenario>,
    provider: Provider,
}

/// One webhook: what is told of it, and what goes over the wire.
struct Webhook<'a> {
    op: &'a str,
    ops: Vec<String>,
    status: Option<String>,
    body: Bytes,
    /// Over which bytes the signature is made; the body's own unless that was altered on the way.
    signed_body: Bytes,
    signature: SignatureKind,
    scheme: SignatureScheme,
    path: &'static str,
    id: String,
    delivery: Delivery<'a>,
}

/// How a webhook is delivered.
#[derive(Clone, Copy)]
struct Delivery<'a> {
    times: u32,
    via: &'a [String],
    timeout: Duration,
    retry: &'a [Span],
}

/// What a receiver says.
struct Heard {
    status: u16,
    problem: Option<String>,
}

impl Sender {
    /// The sender of the webhooks of `scenario`, which knows what `provider` has sent.
    pub fn new(
        world: &SharedWorld,
        stage: &Arc<Stage>,
        scenario: &Arc<Scenario>,
        provider: &Provider,
    ) -> Arc<Self> {
        let (world, stage) = (Arc::clone(world), Arc::clone(stage));
        let (scenario, provider) = (Arc::clone(scenario), provider.clone());
        Arc::new(Self { world, stage, scenario, provider })
    }

    /// Does every step of its own at its time.
    pub fn run(self: &Arc<Self>) {
        for index in (0..self.scenario.steps.len()).filter(|index| self.scenario.steps[*index].is_delivery())
        {
            let this = Arc::clone(self);
            self.world.spawn(Box::pin(async move {
                let step = &this.scenario.steps[index];
                this.world.sleep(Duration::from_millis(BOOT_MS + step.at.ms())).await;
                this.step(step).await;
                this.world.sleep(WORKERS_TAKE).await;
                this.stage.step_done();
            }));
        }
    }

    async fn step(&self, step: &Step) {
        if let Some(deliver) = &step.deliver {
            self.deliver(&self.of_events(deliver)).await;
        }
        if let Some(update) = &step.status {
            match self.of_status(update) {
                Some(webhook) => self.deliver(&webhook).await,
                // Nothing was sent whose status this could be.
                None => self.record(Event::GaveUp { op: update.of.clone() }),
            }
        }
    }

    fn of_events<'a>(&self, deliver: &'a Deliver) -> Webhook<'a> {
        let altered = deliver.signature == SignatureKind::AlteredBody;
        let bytes = |altered| -> Bytes {
            let body = body(&self.scenario, deliver, altered);
            deliver.flaw.map_or_else(|| body.clone().into(), |flaw| spoilt(flaw, &body).into())
        };
        let path = match deliver.flaw {
            Some(Flaw::UnknownProvider) => NOBODY,
            _ => path(deliver.scheme),
        };
        Webhook {
            op: &deliver.op,
            ops: self.scenario.events(deliver).iter().flat_map(|event| self.scenario.owed(event)).collect(),
            status: None,
            body: bytes(altered),
            signed_body: bytes(false),
            signature: deliver.signature,
            scheme: deliver.scheme,
            path,
            id: message_id(deliver),
            delivery: Delivery {
                times: deliver.times,
                via: &deliver.via,
                timeout: Duration::from_millis(deliver.timeout.ms()),
                retry: &deliver.retry,
            },
        }
    }

    fn of_status<'a>(&self, update: &'a DeliverStatus) -> Option<Webhook<'a>> {
        let (id, reference) = self.provider.sent(&update.of)?;
        let reference = reference.filter(|_| self.provider.echoes());
        let body: Bytes = status(&id, reference.as_deref(), update.status).into();
        Some(Webhook {
            op: &update.of,
            ops: Vec::new(),
            status: Some(update.status.name().into()),
            signed_body: body.clone(),
            body,
            signature: SignatureKind::Good,
            scheme: SignatureScheme::Meta,
            path: path(SignatureScheme::Meta),
            id,
            delivery: Delivery {
                times: update.times,
                via: &update.via,
                timeout: Duration::from_millis(update.timeout.ms()),
                retry: &update.retry,
            },
        })
    }

    async fn deliver(&self, webhook: &Webhook<'_>) {
        let all = (0..webhook.delivery.times).map(|number| self.deliver_until_acknowledged(webhook, number));
        futures::future::join_all(all).await;
    }

    async fn deliver_until_acknowledged(&self, webhook: &Webhook<'_>, number: u32) {
        let Delivery { via, retry, .. } = webhook.delivery;
        for attempt in 0..=retry.len() {
            let to = &via[(number as usize + attempt) % via.len()];
            if self.attempt(webhook, to, attempt as u32 + 1).await {
                return;
            }
            if let Some(pause) = retry.get(attempt) {
                self.world.sleep(Duration::from_millis(pause.ms())).await;
            }
        }
        self.record(Event::GaveUp { op: webhook.op.into() });
    }

    /// One attempt; whether it was answered with a 2xx.
    async fn attempt(&self, webhook: &Webhook<'_>, to: &str, attempt: u32) -> bool {
        let (op, call) = (webhook.op.to_owned(), self.stage.next_call());
        self.record(Event::Delivery {
            op: op.clone(),
            ops: webhook.ops.clone(),
            status: webhook.status.clone(),
            call,
            attempt,
            to: to.into(),
            signed: webhook.signature == SignatureKind::Good,
        });
        let limit = webhook.delivery.timeout;
        let heard = within(&*self.world, limit, self.exchange(webhook, to)).await;
        match heard.unwrap_or_else(|| Err("timeout".into())) {
            Ok(Heard { status, problem }) => {
                self.record(Event::DeliveryAnswer { op, call, status, problem });
                (200..300).contains(&status)
            }
            Err(reason) => {
                self.record(Event::NoResponse { op, call, reason });
                false
            }
        }
    }

    async fn exchange(&self, webhook: &Webhook<'_>, to: &str) -> Result<Heard, String> {
        let limit = webhook.delivery.timeout;
        let request = self.request(webhook, to).map_err(|error| error.to_string())?;
        let connection = Connection::open(&self.world, to, HTTP_PORT, limit).await;
        let connection = connection.map_err(|error| error.to_string())?;
        let response = connection.send(request, limit).await.map_err(|error| error.to_string())?;
        let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        let problem = body["type"].as_str().and_then(|name| name.rsplit(':').next()).map(str::to_owned);
        Ok(Heard { status: response.status().as_u16(), problem })
    }

    /// Each attempt has a signature of its own, of its own time.
    fn request(&self, webhook: &Webhook<'_>, to: &str) -> http::Result<Request<Bytes>> {
        let request = Request::post(webhook.path)
            .header(header::HOST, to)
            .header(header::CONTENT_TYPE, "application/json");
        let seconds = self.world.clock_ms() / 1000;
        let request = match webhook.signature {
            SignatureKind::Missing => request,
            kind => {
                let with_secret = kind != SignatureKind::Wrong;
                let signed = &webhook.signed_body;
                sign(request, webhook.scheme, &webhook.id, seconds, signed, with_secret)
            }
        };
        request.body(webhook.body.clone())
    }

    fn record(&self, event: Event) {
        self.stage.record(self.world.since_boot().as_millis() as u64, HOST, event);
    }
}
