//! Stage 1: mark, queue, 200. Nothing is verified (W2).
//!
//! The text reads the signature into a variable called `eventId` and never uses it: what it goes by is the id in the
//! body (W3).

use std::sync::Arc;

use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::post};
use onceproof_gateway::{points, world::SharedWorld};
use serde_json::{Value, json};

use super::Decisions;
use crate::{
    sim::actors::producer::TENANTS,
    subject::{
        bullmq::{Queue, QueueError},
        in_time::in_time,
        points::AFTER_SET_NX,
        redis_client::Client,
        resp::Reply,
    },
};

/// How long an id is known (W1).
const REMEMBERED_S: &str = "86400";
/// How long it could be.
const A_MONTH_S: &str = "2592000";

/// What a request needs.
pub struct Receiver {
    /// The host.
    pub world: SharedWorld,
    /// Where ids are marked.
    pub redis: Client,
    /// Where sends go.
    pub queue: Queue,
    /// What is decided.
    pub decisions: Decisions,
}

/// Its one route.
pub fn router(receiver: Receiver) -> Router {
    Router::new().route("/webhooks/stripe", post(receive)).with_state(Arc::new(receiver))
}

async fn receive(State(receiver): State<Arc<Receiver>>, body: Bytes) -> StatusCode {
    let Ok(event) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST;
    };
    let (world, has_to_be_in_time) = (receiver.world.clone(), receiver.decisions.answers_in_time);
    in_time(&world, has_to_be_in_time, async move { receiver.handle(&event).await.map(|()| StatusCode::OK) })
        .await
}

impl Receiver {
    async fn handle(&self, event: &Value) -> Result<(), QueueError> {
        self.world.reach(points::BEFORE_RECEIVE).await;
        let id = text(event, "id");
        if self.decisions.mark_after_queue {
            if self.redis.ask(&["GET", &mark(id)]).await? == Reply::Nil {
                self.enqueue(id, event).await?;
                self.claim(id).await?;
            }
        } else if self.claim(id).await? {
            // Whoever dies here has marked an event that nobody will ever see.
            self.world.reach(AFTER_SET_NX).await;
            self.enqueue(id, event).await?;
        }
        self.world.reach(points::AFTER_RECEIVE).await;
        self.world.reach(points::BEFORE_ACK).await;
        Ok(())
    }

    /// Whether an event is new. All that bear no id are one and the same.
    async fn claim(&self, id: &str) -> Result<bool, QueueError> {
        let remembered = if self.decisions.ids_for_a_month { A_MONTH_S } else { REMEMBERED_S };
        let reply = self.redis.ask(&["SET", &mark(id), "1", "NX", "EX", remembered]).await?;
        Ok(reply == Reply::Text("OK".into()))
    }

    /// Stage 2. Whoever wrote is told that it was received.
    async fn enqueue(&self, id: &str, event: &Value) -> Result<(), QueueError> {
        let (instance, to) = (TENANTS[0].instance, text(event, "from"));
        let body = format!("Recebemos: {}", text(event, "text"));
        let job = json!({ "instanceId": instance, "to": to, "body": body, "eventId": id });
        self.queue.add_once(&format!("{instance}:{to}:{id}"), &job).await
    }
}

fn mark(id: &str) -> String {
    format!("stripe:{id}")
}

/// As JavaScript writes a field into a string.
fn text<'a>(event: &'a Value, field: &str) -> &'a str {
    event[field].as_str().unwrap_or("undefined")
}
