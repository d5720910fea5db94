//! `POST /{phone_number_id}/media`: a file on its way to the provider, a chunk at a time.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{
    Request, Response,
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST},
};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use serde::Deserialize;

use super::{Outcome, WhatsApp, classify};
use crate::{
    client::{Connection, OutgoingBody},
    hex,
    message::Attachment,
};

#[derive(Deserialize)]
struct Kept {
    id: String,
}

impl WhatsApp {
    /// Uploads a file, for no longer than `limit`, and gives its id there; else why there is none.
    pub(crate) async fn upload(&self, file: &Attachment, limit: Duration) -> Result<String, Outcome> {
        let started = self.world.since_boot();
        let request = self.upload_request(file).await.map_err(not_sent)?;
        let opened =
            Connection::open(&self.world, &self.config.host, self.config.port, limit.min(self.timeout));
        let connection = opened.await.map_err(not_sent)?;
        let left = limit.saturating_sub(self.world.since_boot().saturating_sub(started));
        let response = connection.send_streamed(request, left).await.map_err(not_sent)?;
        media_id(&response)
    }

    async fn upload_request(&self, file: &Attachment) -> std::io::Result<Request<OutgoingBody>> {
        // 128 random bits are in no file.
        let boundary = hex::random_id(&*self.world);
        let before = form_before(file, &boundary);
        let after = format!("\r\n--{boundary}--\r\n");
        let length = before.len() as u64 + file.content.length() + after.len() as u64;
        let content = file.content.read().await?;
        let edge = |text: String| stream::once(async move { Ok(Bytes::from(text)) });
        let frames = edge(before).chain(content).chain(edge(after)).map(|chunk| chunk.map(Frame::data));
        let authority = format!("{}:{}", self.config.host, self.config.port);
        Request::post(&file.path)
            .header(HOST, authority)
            .header(AUTHORIZATION, format!("Bearer {}", self.config.access_token))
            .header(CONTENT_TYPE, format!("multipart/form-data; boundary={boundary}"))
            .header(CONTENT_LENGTH, length)
            .body(StreamBody::new(frames).boxed_unsync())
            .map_err(std::io::Error::other)
    }
}

fn form_before(file: &Attachment, boundary: &str) -> String {
    let Attachment { media_type, name, .. } = file;
    let field = |name: &str, value: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    // As browsers write names; a media type came in a header, and fits in one.
    let name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    format!(
        "{}{}--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: {media_type}\r\n\r\n",
        field("messaging_product", "whatsapp"),
        field("type", media_type),
    )
}

fn media_id(response: &Response<Bytes>) -> Result<String, Outcome> {
    if !response.status().is_success() {
        return Err(classify(response));
    }
    match serde_json::from_slice::<Kept>(response.body()) {
        Ok(Kept { id }) if !id.is_empty() => Ok(id),
        _ => Err(not_sent("the provider took the file without an id")),
    }
}

fn not_sent(why: impl ToString) -> Outcome {
    Outcome::NotSent { why: format!("the file was not handed over: {}", why.to_string()) }
}
