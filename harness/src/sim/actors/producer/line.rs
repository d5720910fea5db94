//! A producer's way to the gateways, and the stage that hears what goes over it.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use onceproof_gateway::{
    client::ClientError,
    fingerprint,
    producer::{HttpLine, Line, Posting, Question},
    world::BoxFuture,
};

use super::{answer::Answer, orders::step_op};
use crate::{history::Event, plan::Scenario, sim::stage::Stage};

/// The line of one incarnation of a host.
pub struct WatchedLine {
    /// The line itself.
    pub line: HttpLine,
    /// The host.
    pub host: &'static str,
    /// Who hears of it.
    pub stage: Arc<Stage>,
    /// What the orders are.
    pub scenario: Arc<Scenario>,
}

impl WatchedLine {
    fn recorder(&self) -> impl Fn(Event) + Send + 'static {
        let (world, stage, host) = (Arc::clone(&self.line.world), Arc::clone(&self.stage), self.host);
        move |event| stage.record(world.since_boot().as_millis() as u64, host, event)
    }
}

impl Line for WatchedLine {
    fn post(&self, posting: Posting) -> BoxFuture<Result<Response<Bytes>, ClientError>> {
        let record = self.recorder();
        let (op, call) = (step_op(&self.scenario, &posting.order, posting.step), self.stage.next_call());
        let to = self.line.gateway(posting.attempt).map_or_else(String::new, |gateway| gateway.host.clone());
        let instance = posting.instance.as_deref().unwrap_or("account");
        record(Event::Request {
            op: op.clone(),
            call,
            attempt: posting.attempt,
            to,
            scope: format!("{instance}/{}", posting.route),
            key: Some(posting.key.clone()),
            authorized: true,
            content: fingerprint::canonical_digest(posting.content.to_string().as_bytes())
                .unwrap_or_default(),
        });
        let exchange = self.line.post(posting);
        Box::pin(async move {
            let outcome = exchange.await;
            record(match &outcome {
                Ok(response) => Answer::of(response).event(&op, call),
                Err(error) => Event::NoResponse { op, call, reason: error.to_string() },
            });
            outcome
        })
    }

    fn ask(&self, question: Question) -> BoxFuture<Result<Response<Bytes>, ClientError>> {
        let record = self.recorder();
        let op = step_op(&self.scenario, &question.order, question.step);
        let exchange = self.line.ask(question);
        Box::pin(async move {
            let outcome = exchange.await;
            let answer = outcome.as_ref().ok().map(Answer::of);
            let (status, says) = answer.map_or((None, None), |answer| (Some(answer.status), answer.says));
            record(Event::LookUp { op, by: "key".into(), status, says });
            outcome
        })
    }
}
