//! The webhook: verify, mark, queue, and only then 200 (W2, W5, W6).

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
use tokio::sync::oneshot;

use crate::subject::{
    bullmq::Queue,
    hmac::is_hmac_of,
    points::AFTER_SET_NX,
    redis_client::{Client, RedisError},
    resp::Reply,
};

/// How long an id is known: a day, though its sender goes on for a week (W1).
const REMEMBERED_S: &str = "86400";

/// What a request needs.
pub struct Receiver {
    /// The host.
    pub world: SharedWorld,
    /// Where ids are marked.
    pub redis: Client,
    /// Where messages go.
    pub queue: Queue,
}

/// Its one route.
pub fn router(receiver: Receiver) -> Router {
    Router::new().route("/webhooks/whatsapp", post(receive)).with_state(Arc::new(receiver))
}

/// A handler goes on when its caller has gone, as one in Node does.
async fn receive(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if !is_authentic(&headers, &body) {
        return StatusCode::UNAUTHORIZED;
    }
    let Ok(event) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST;
    };
    let (done, outcome) = oneshot::channel();
    let world = receiver.world.clone();
    world.spawn(Box::pin(async move {
        // Whoever has gone hears nothing.
        let _ = done.send(receiver.handle(&event).await);
    }));
    match outcome.await {
        Ok(Ok(())) => StatusCode::OK,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Over the raw bytes, in constant time.
fn is_authentic(headers: &HeaderMap, body: &[u8]) -> bool {
    let header = headers.get("x-hub-signature-256").and_then(|value| value.to_str().ok());
    let signature = header.and_then(|header| header.strip_prefix("sha256="));
    signature.is_some_and(|signature| is_hmac_of(signature, body))
}

impl Receiver {
    /// Of the first change of the first entry; whatever else is in the delivery is not looked at (W4).
    async fn handle(&self, event: &Value) -> Result<(), RedisError> {
        self.world.reach(points::BEFORE_RECEIVE).await;
        let messages = event["entry"][0]["changes"][0]["value"]["messages"].as_array();
        for message in messages.into_iter().flatten() {
            if self.claim(message).await? {
                // Whoever dies here has marked a message that nobody will ever see.
                self.world.reach(AFTER_SET_NX).await;
                self.queue.add(message).await?;
            }
        }
        self.world.reach(points::AFTER_RECEIVE).await;
        self.world.reach(points::BEFORE_ACK).await;
        Ok(())
    }

    /// Whether a message is new. All that bear no id are one and the same.
    async fn claim(&self, message: &Value) -> Result<bool, RedisError> {
        let key = format!("wa:idempotency:{}", message["id"].as_str().unwrap_or("undefined"));
        let reply = self.redis.ask(&["SET", &key, "1", "EX", REMEMBERED_S, "NX"]).await?;
        Ok(reply == Reply::Text("OK".into()))
    }
}
