//! Reads the body of a request, as JSON or as a form.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{
    HeaderMap, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
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
    let whole = Limited::new(body, limit).collect();
    match within(world, BODY_PATIENCE, whole).await {
        Some(Ok(body)) => Ok(body.to_bytes()),
        Some(Err(error)) if error.is::<LengthLimitError>() => {
            Err(too_large(format!("the body is over {limit} bytes")))
        }
        Some(Err(error)) => Err(Problem::new(StatusCode::BAD_REQUEST, "bad-body", error)),
        None => Err(late()),
    }
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
