//! What is done with a message: the customer is answered, straight from the job and under no key (W7, W8).

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, header};
use onceproof_gateway::{
    client::Connection,
    points,
    world::{BoxFuture, SharedWorld},
};
use serde_json::{Value, json};

use crate::{
    sim::{
        actors::{producer::TENANTS, whatsapp},
        wire::HTTP_PORT,
    },
    subject::{
        bullmq::{ATTEMPTS, Job, Processor, Queue},
        points::BEFORE_DEAD_LETTER,
    },
};

/// The text sets no limit; this is that of the client which Node brings.
const PATIENCE: Duration = Duration::from_secs(300);

/// Answers customers, and buries what cannot be answered.
pub struct Replies {
    world: SharedWorld,
    dead_letters: Arc<Queue>,
}

impl Replies {
    /// Answers from this host.
    pub fn new(world: &SharedWorld, dead_letters: Queue) -> Self {
        Self { world: world.clone(), dead_letters: Arc::new(dead_letters) }
    }
}

impl Processor for Replies {
    fn process(&self, job: Job) -> BoxFuture<Result<(), String>> {
        let world = self.world.clone();
        Box::pin(async move { reply(&world, &job.data).await })
    }

    fn failed(&self, job: Job, why: String) -> BoxFuture<()> {
        let (world, dead_letters) = (self.world.clone(), Arc::clone(&self.dead_letters));
        Box::pin(async move {
            if job.attempts_made < ATTEMPTS {
                return;
            }
            world.reach(BEFORE_DEAD_LETTER).await;
            let letter = json!({ "payload": job.data, "error": why, "failedAt": world.clock_ms() });
            // Nobody listens to what becomes of this.
            let _ = dead_letters.add(&letter).await;
        })
    }
}

async fn reply(world: &SharedWorld, message: &Value) -> Result<(), String> {
    let text = message["text"]["body"].as_str().unwrap_or_default();
    let body = json!({
        "messaging_product": "whatsapp",
        "to": message["from"],
        "type": "text",
        "text": { "body": format!("Recebemos: {text}") },
    });
    let request = Request::post(format!("/{}/messages", TENANTS[0].phone_number_id))
        .header(header::HOST, whatsapp::HOST)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Bytes::from(body.to_string()))
        .map_err(|error| error.to_string())?;
    let connection = Connection::open(world, whatsapp::HOST, HTTP_PORT, PATIENCE).await;
    let connection = connection.map_err(|error| error.to_string())?;
    world.reach(points::BEFORE_DISPATCH).await;
    world.reach(points::AT_FIRST_BYTE).await;
    let answer = connection.send(request, PATIENCE).await;
    world.reach(points::AFTER_DISPATCH).await;
    match answer {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("the provider says {}", answer.status().as_u16())),
        Err(error) => Err(error.to_string()),
    }
}
