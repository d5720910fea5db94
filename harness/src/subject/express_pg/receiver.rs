//! The webhook: verify, take the processing key, process, and only then 200.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use onceproof_gateway::{points, world::SharedWorld};
use serde_json::Value;

use super::{
    Decisions, failure::Failure, keys::Keys, points::AFTER_RELEASE, reading::Reading,
    retry_queue::RetryQueue, signature::is_authentic, webhook::Webhook,
};
use crate::subject::{in_time::in_time, points::AFTER_SET_NX};

/// The longest body that the parser takes. The middleware does not look at its error, and what comes after it fails on a
/// body that is not there.
const LONGEST: usize = 100 * 1024;

/// What a request needs.
pub struct Receiver {
    /// The host.
    pub world: SharedWorld,
    /// The processing keys.
    pub keys: Arc<Keys>,
    /// What is done with a webhook.
    pub reading: Arc<dyn Reading>,
    /// Where what fails goes.
    pub queue: Arc<RetryQueue>,
    /// What is decided.
    pub decisions: Decisions,
}

/// Its routes.
pub const EVERY_PROVIDER: &str = "/webhooks/{provider}";
/// The one of them that is played where a gateway, which has the same, is beside it.
pub const ONE_PROVIDER: &str = "/webhooks/whatsapp";

/// Whatever is posted to these routes.
pub fn router(receiver: Receiver, routes: &str) -> Router {
    Router::new().route(routes, post(receive)).with_state(Arc::new(receiver))
}

/// A handler goes on when its caller has gone, as one in Node does. What it throws is a 500.
async fn receive(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if body.len() > LONGEST {
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    if !is_authentic(&headers, &body) {
        return StatusCode::BAD_REQUEST;
    }
    let Ok(event) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::INTERNAL_SERVER_ERROR;
    };
    let Some(webhook) = Webhook::of(event) else {
        return StatusCode::BAD_REQUEST;
    };
    let (world, has_to_be_in_time) = (receiver.world.clone(), receiver.decisions.answers_in_time);
    in_time(&world, has_to_be_in_time, async move { receiver.handle(&webhook).await }).await
}

impl Receiver {
    async fn handle(&self, webhook: &Webhook) -> Result<StatusCode, Failure> {
        self.world.reach(points::BEFORE_RECEIVE).await;
        if !self.keys.claim(&webhook.id).await? {
            // Whoever has it may be in the middle, or dead (W6).
            return Ok(match self.decisions.taken_is_no_ack {
                true => StatusCode::SERVICE_UNAVAILABLE,
                false => StatusCode::OK,
            });
        }
        self.world.reach(AFTER_SET_NX).await;
        match self.reading.process(webhook.clone()).await {
            Ok(()) => {
                self.world.reach(points::AFTER_RECEIVE).await;
                self.world.reach(points::BEFORE_ACK).await;
                Ok(StatusCode::OK)
            }
            Err(why) => {
                self.fail(webhook, &why).await?;
                Ok(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }

    /// The same for every error, also for that of a COMMIT which may have landed (W9).
    async fn fail(&self, webhook: &Webhook, why: &Failure) -> Result<(), Failure> {
        self.world.reach(points::BEFORE_FAIL).await;
        self.keys.release(&webhook.id).await?;
        self.world.reach(AFTER_RELEASE).await;
        self.queue.enqueue(webhook, 1, why).await
    }
}
