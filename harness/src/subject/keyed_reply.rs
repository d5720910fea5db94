//! A reply to a customer through a gateway in the same process, under a key of the event (W10): what none of the texts does,
//! and each could.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, header};
use onceproof_gateway::{client::Connection, world::SharedWorld};
use serde_json::{Value, json};

use crate::{
    history::Event,
    sim::{actors::producer::TENANTS, clock, stage::Stage, wire::HTTP_PORT},
};

/// Longer than a gateway takes for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Replies from one host.
#[derive(Clone)]
pub struct KeyedReplies {
    /// The host's.
    pub world: SharedWorld,
    /// Its name, under which its gateway is reached.
    pub host: String,
    /// Who hears of it.
    pub stage: Arc<Stage>,
}

impl KeyedReplies {
    /// Tells a customer that the text of this event has come in.
    ///
    /// # Errors
    /// Whatever is no success. To ask again under the same key is safe.
    pub async fn reply(&self, to: &Value, text: &str, id: &str, attempt: u32) -> Result<(), String> {
        let instance = &TENANTS[0];
        let key = format!("reply:{id}");
        let body = json!({ "to": to, "type": "text", "text": { "body": format!("Recebemos: {text}") } });
        let body = body.to_string();
        let scope = format!("{}/messages", instance.instance);
        let sent =
            Event::WorkerSend { op: self.stage.operation(&body).into(), attempt, scope, key: key.clone() };
        self.stage.record(clock::ms(self.world.since_boot()), &self.host, sent);
        let request = Request::post(format!("/v1/instances/{}/messages", instance.instance))
            .header(header::HOST, &self.host)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {}", instance.token))
            .header("idempotency-key", key)
            .body(Bytes::from(body))
            .map_err(|error| error.to_string())?;
        let connection = Connection::open(&self.world, &self.host, HTTP_PORT, PATIENCE).await;
        let connection = connection.map_err(|error| error.to_string())?;
        let answer = connection.send(request, PATIENCE).await.map_err(|error| error.to_string())?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            status => Err(format!("the gateway says {}", status.as_u16())),
        }
    }
}
