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

use super::Decisions;
use crate::subject::{
    bullmq::{Queue, QueueError},
    hmac::is_hmac_of,
    in_time::in_time,
    points::AFTER_SET_NX,
    redis_client::{Client, RedisError},
    resp::Reply,
};

/// How long an id is known: a day, though its sender goes on for a week (W1).
const REMEMBERED_S: &str = "86400";
/// How long it could be.
const A_MONTH_S: &str = "2592000";

/// What a request needs.
pub struct Receiver {
    /// The host.
    pub world: SharedWorld,
    /// Where ids are marked.
    pub redis: Client,
    /// Where messages go.
    pub queue: Queue,
    /// What is decided.
    pub decisions: Decisions,
}

/// Its one route.
pub fn router(receiver: Receiver) -> Router {
    Router::new().route("/webhooks/whatsapp", post(receive)).with_state(Arc::new(receiver))
}

async fn receive(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if !is_authentic(&headers, &body) {
        return StatusCode::UNAUTHORIZED;
    }
    let Ok(event) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST;
    };
    let (world, has_to_be_in_time) = (receiver.world.clone(), receiver.decisions.answers_in_time);
    in_time(&world, has_to_be_in_time, async move { receiver.handle(&event).await.map(|()| StatusCode::OK) })
        .await
}

/// Over the raw bytes, in constant time.
fn is_authentic(headers: &HeaderMap, body: &[u8]) -> bool {
    let header = headers.get("x-hub-signature-256").and_then(|value| value.to_str().ok());
    let signature = header.and_then(|header| header.strip_prefix("sha256="));
    signature.is_some_and(|signature| is_hmac_of(signature, body))
}

impl Receiver {
    async fn handle(&self, event: &Value) -> Result<(), QueueError> {
        self.world.reach(points::BEFORE_RECEIVE).await;
        for message in self.messages(event) {
            match self.decisions.mark_after_queue {
                true => self.queue_and_mark(message).await?,
                false => self.mark_and_queue(message).await?,
            }
        }
        self.world.reach(points::AFTER_RECEIVE).await;
        self.world.reach(points::BEFORE_ACK).await;
        Ok(())
    }

    /// Of the first change of the first entry; whatever else is in the delivery is not looked at (W4).
    fn messages<'a>(&self, event: &'a Value) -> Vec<&'a Value> {
        let all = |list: &'a Value| list.as_array().into_iter().flatten();
        if !self.decisions.every_item {
            return all(&event["entry"][0]["changes"][0]["value"]["messages"]).collect();
        }
        let changes = all(&event["entry"]).flat_map(|entry| all(&entry["changes"]));
        changes.flat_map(|change| all(&change["value"]["messages"])).collect()
    }

    async fn mark_and_queue(&self, message: &Value) -> Result<(), QueueError> {
        if self.claim(message).await? {
            // Whoever dies here has marked a message that nobody will ever see.
            self.world.reach(AFTER_SET_NX).await;
            self.queue.add(message).await?;
        }
        Ok(())
    }

    /// The id is that of the job, too: whoever comes between finds it queued.
    async fn queue_and_mark(&self, message: &Value) -> Result<(), QueueError> {
        if self.redis.ask(&["GET", &mark(message)]).await? == Reply::Nil {
            self.queue.add_once(id(message), message).await?;
            self.claim(message).await?;
        }
        Ok(())
    }

    /// Whether a message is new. All that bear no id are one and the same.
    async fn claim(&self, message: &Value) -> Result<bool, RedisError> {
        let remembered = if self.decisions.ids_for_a_month { A_MONTH_S } else { REMEMBERED_S };
        let reply = self.redis.ask(&["SET", &mark(message), "1", "EX", remembered, "NX"]).await?;
        Ok(reply == Reply::Text("OK".into()))
    }
}

fn mark(message: &Value) -> String {
    format!("wa:idempotency:{}", id(message))
}

/// As JavaScript writes it.
fn id(message: &Value) -> &str {
    message["id"].as_str().unwrap_or("undefined")
}
