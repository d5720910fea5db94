//! A reply to a customer, straight to the provider and under no key (W10): none of the texts gives it one.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, header};
use onceproof_gateway::{client::Connection, points, world::SharedWorld};
use serde_json::{Value, json};

use crate::sim::{
    actors::{producer::TENANTS, whatsapp},
    wire::HTTP_PORT,
};

/// The texts set no limit; this is that of the client which Node brings.
const PATIENCE: Duration = Duration::from_secs(300);

/// Tells a customer that the text has come in.
///
/// # Errors
/// Whatever is no success. The reply may have gone out all the same.
pub async fn reply(world: &SharedWorld, to: &Value, text: &str) -> Result<(), String> {
    let body = json!({
        "messaging_product": "whatsapp",
        "to": to,
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
