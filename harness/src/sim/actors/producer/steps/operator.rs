//! What the operator does about dead letters (W8).

use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use http::{Request, header};
use onceproof_gateway::world::within;
use serde_json::{Map, Value};

use super::Producer;
use crate::{
    history::Event,
    plan::{DeadLetters, Redrive, Span},
    sim::{actors::producer::ADMIN_TOKEN, clock::wall_ms, stage::BOOT_MS},
};

impl Producer {
    pub(super) async fn bring_back(&self, redrive: &Redrive) {
        match (&redrive.op, &redrive.filter) {
            (Some(op), _) => self.redrive(redrive, op).await,
            (None, Some(filter)) => self.redrive_all(redrive, filter).await,
            (None, None) => {}
        }
    }

    /// Brings back all that a filter means, in one call.
    async fn redrive_all(&self, redrive: &Redrive, filter: &DeadLetters) {
        let filter = spelled(filter);
        let request = Request::post("/admin/dead-letters/redrive")
            .header(header::HOST, &redrive.via)
            .header(header::AUTHORIZATION, format!("Bearer {ADMIN_TOKEN}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Bytes::from(filter.to_string()));
        let (status, body) = self.told(&redrive.via, request).await.unzip();
        let body = body.unwrap_or_default();
        let count = |name: &str| body[name].as_u64().and_then(|count| count.try_into().ok()).unwrap_or(0);
        let problem = body["type"].as_str().and_then(|name| name.rsplit(':').next()).map(str::to_owned);
        let filter = match filter.as_object().is_some_and(Map::is_empty) {
            true => "everybody".into(),
            false => filter.to_string(),
        };
        let (redriven, too_old) = (count("redriven"), count("tooOld"));
        self.record(Event::RedriveAll { filter, status, redriven, too_old, problem });
    }

    /// Brings a dead letter back, which an operator finds in the list, or remembers.
    async fn redrive(&self, redrive: &Redrive, op: &str) {
        let listed = self.listed(redrive, op).await;
        let answer = match listed.or(self.heard_of(op).letter) {
            Some(letter) => {
                self.lock().entry(op.into()).or_default().letter = Some(letter);
                let request = Request::post(format!("/admin/dead-letters/{letter}/redrive"))
                    .header(header::HOST, &redrive.via)
                    .header(header::AUTHORIZATION, format!("Bearer {ADMIN_TOKEN}"))
                    .body(Bytes::new());
                self.ask(&redrive.via, request).await
            }
            None => None,
        };
        let (status, problem) = answer.map_or((None, None), |answer| (Some(answer.status), answer.problem));
        self.record(Event::Redrive { op: op.into(), status, problem });
    }

    /// The number of the dead letter that bears the marker.
    async fn listed(&self, redrive: &Redrive, op: &str) -> Option<i64> {
        let request = Request::get("/admin/dead-letters")
            .header(header::HOST, &redrive.via)
            .header(header::AUTHORIZATION, format!("Bearer {ADMIN_TOKEN}"))
            .body(Bytes::new());
        let (_, body) = self.told(&redrive.via, request).await?;
        let is_this = |letter: &&Value| {
            letter["payload"].as_str().is_some_and(|payload| self.stage.operation(payload) == op)
        };
        body["deadLetters"].as_array()?.iter().find(is_this)?["id"].as_i64()
    }

    /// Status and body of an answer, if there was one.
    async fn told(&self, via: &str, request: http::Result<Request<Bytes>>) -> Option<(u16, Value)> {
        let limit = Duration::from_millis(self.scenario.world.producer.timeout.ms());
        let exchange = self.exchange(via, request.ok()?, limit);
        let response = within(&*self.world, limit, exchange).await?.ok()?;
        Some((response.status().as_u16(), serde_json::from_slice(response.body()).unwrap_or_default()))
    }
}

/// A filter as the gateway takes it.
fn spelled(filter: &DeadLetters) -> Value {
    let text = |text: &Option<String>| text.clone().map(Value::from);
    let date = |span: Option<Span>| {
        let at_ms = u64::try_from(wall_ms(BOOT_MS + span?.ms())).ok()?;
        let at = UNIX_EPOCH + Duration::from_millis(at_ms);
        Some(Value::from(humantime::format_rfc3339_millis(at).to_string()))
    };
    let members = [
        ("provider", text(&filter.provider)),
        ("endpoint", text(&filter.endpoint)),
        ("subscriber", text(&filter.subscriber)),
        ("errorContains", text(&filter.error)),
        ("diedAfter", date(filter.died_after)),
        ("diedBefore", date(filter.died_before)),
        ("limit", filter.limit.map(Value::from)),
    ];
    members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect::<Map<_, _>>()
        .into()
}
