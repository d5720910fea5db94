//! Reads the body of a request, as JSON or as a form.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body_util::BodyExt;
use serde_json::Value;

use super::{
    FormFile, Problem,
    form::{FormError, Forms, MAX_FORM},
};
use crate::{
    fingerprint,
    world::{World, within},
};

/// How long a JSON body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// How long a form may take to arrive: 75 MiB at 2 Mbit/s.
const FORM_PATIENCE: Duration = Duration::from_secs(315);

/// The most that is read of a body beyond its limit.
const DROPPED_MAX: usize = 16 * 1024 * 1024;

/// The content of a request.
pub(super) struct Content {
    pub(super) value: Value,
    pub(super) file: Option<FormFile>,
    pub(super) fingerprint: String,
}

/// Reads JSON of at most `limit` bytes.
pub(super) async fn json(world: &dyn World, limit: usize, body: Body) -> Result<Content, Problem> {
    let body = whole(world, limit, body).await?;
    let bad_json = |error| Problem::new(StatusCode::BAD_REQUEST, "bad-json", error);
    let value = fingerprint::parse(&body).map_err(bad_json)?;
    let fingerprint = fingerprint::of_value(&value).map_err(bad_json)?;
    Ok(Content { value, file: None, fingerprint })
}

/// Reads a form.
pub(super) async fn form(
    world: &dyn World,
    forms: &Forms,
    headers: &HeaderMap,
    body: Body,
) -> Result<Content, Problem> {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(media_type)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "bad-form", error))?;
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_FORM) {
        return Err(refused(&FormError::TooLarge));
    }
    match within(world, FORM_PATIENCE, forms.read(boundary, body)).await {
        Some(Ok(form)) => Ok(Content { value: form.fields, file: form.file, fingerprint: form.fingerprint }),
        Some(Err(error)) => Err(refused(&error)),
        None => Err(late()),
    }
}

/// Whether the body says that it is a form.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("multipart/form-data")
}

/// Reads a body of at most `limit` bytes.
pub(crate) async fn whole(world: &dyn World, limit: usize, body: Body) -> Result<Bytes, Problem> {
    match within(world, BODY_PATIENCE, gather(limit, body)).await {
        Some(Ok(Some(body))) => Ok(body),
        Some(Ok(None)) => Err(too_large(format!("the body is over {limit} bytes"))),
        Some(Err(error)) => Err(Problem::new(StatusCode::BAD_REQUEST, "bad-body", error)),
        None => Err(late()),
    }
}

/// The bytes, or none where they are too many. What is over the limit is read and dropped, within reason: a sender that writes
/// all before it reads would hear of a reset, and deliver the same again.
async fn gather(limit: usize, mut body: Body) -> Result<Option<Bytes>, axum::Error> {
    let (mut gathered, mut dropped) = (BytesMut::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        match dropped {
            0 if gathered.len() + data.len() <= limit => gathered.extend_from_slice(&data),
            0..DROPPED_MAX => dropped += data.len(),
            _ => break,
        }
    }
    Ok((dropped == 0).then(|| gathered.freeze()))
}

fn refused(error: &FormError) -> Problem {
    match error {
        FormError::Malformed(_) => Problem::new(StatusCode::BAD_REQUEST, "bad-form", error),
        FormError::TooLarge => too_large(error.to_string()),
        FormError::Spool(_) => Problem::not_sent(&error.to_string()),
        FormError::Busy => {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-uploads", error).retry_after("1")
        }
    }
}

fn too_large(why: String) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", why)
}

fn late() -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, "bad-body", "the body did not arrive in time")
}
