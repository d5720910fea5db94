//! Forms with a file (S8): read a chunk at a time into the spool, and hashed on the way. Nothing is claimed before the
//! last byte.
//!
//! In memory at a time, for each upload: two chunks of the connection (at most 32 KiB each) in the parser, one of
//! 64 KiB on its way to the file, and 16 other parts of at most 16 KiB. With 16 uploads at a time that is below 8 MiB,
//! whatever the size of the files.

use std::{collections::BTreeMap, io, sync::Arc};

use axum::body::Body;
use futures::StreamExt;
use multer::{Field, Multipart};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::paced::{Allowance, Paced};
use crate::{
    fingerprint, hex,
    spool::{Spool, Spooled},
};

/// The largest form, in bytes, everything included (75 MiB).
pub const MAX_FORM: u64 = 75 * 1024 * 1024;

/// Forms that are read or handed over at a time; one more is 503.
pub const CONCURRENT_FORMS: usize = 16;

/// The most parts of a form.
const MAX_PARTS: usize = 16;

/// The largest part that is not the file, in bytes.
const MAX_FIELD: usize = 16 * 1024;

/// The longest name of a part or a file, and the longest media type, in bytes.
const MAX_NAME: usize = 255;

/// How much may arrive before a part's header has ended, and after the last part.
const MAX_HEADER: u64 = 64 * 1024;

/// A form that has arrived.
#[derive(Debug)]
pub struct Form {
    /// The parts that are not the file, as the strings that they are.
    pub fields: Value,
    /// The file, if there is one.
    pub file: Option<FormFile>,
    /// Of every part's name, file name, type and content; never of the boundary, nor of the order of the parts.
    pub fingerprint: String,
}

/// The file of a form.
#[derive(Debug)]
pub struct FormFile {
    /// The name that it came with.
    pub name: Option<String>,
    /// The type that it came with.
    pub media_type: Option<String>,
    /// Its content.
    pub content: Spooled,
}

/// Why a form cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FormError {
    #[error("not a form with files: {0}")]
    Malformed(String),
    #[error("the form is over {MAX_FORM} bytes")]
    TooLarge,
    #[error("the file cannot be kept: {0}")]
    Spool(io::Error),
    #[error("too many uploads at a time")]
    Busy,
}

/// Where forms are read to.
#[derive(Debug)]
pub(crate) struct Forms {
    spool: Spool,
    places: Arc<Semaphore>,
}

/// A form that is arriving.
#[derive(Default)]
struct Arriving {
    fields: Map<String, Value>,
    file: Option<FormFile>,
    /// What the fingerprint is of, by name.
    parts: BTreeMap<String, Value>,
}

impl Forms {
    pub(crate) fn new(spool: Spool) -> Self {
        Self { spool, places: Arc::new(Semaphore::new(CONCURRENT_FORMS)) }
    }

    /// Reads the whole body.
    pub(super) async fn read(&self, boundary: String, body: Body) -> Result<Form, FormError> {
        let allowance = Allowance::default();
        allowance.set(MAX_HEADER);
        let mut body = Paced::new(body, allowance.clone());
        let size = multer::SizeLimit::new().whole_stream(MAX_FORM);
        let constraints = multer::Constraints::new().size_limit(size);
        let mut parser = Multipart::with_constraints(&mut body, boundary, constraints);
        let mut arriving = Arriving::default();
        while let Some(field) = parser.next_field().await? {
            allowance.set(u64::MAX);
            self.read_part(field, &mut arriving).await?;
            allowance.set(MAX_HEADER);
        }
        drop(parser);
        // Only the end of the body says that nothing was cut off.
        while let Some(chunk) = body.next().await {
            chunk.map_err(malformed)?;
        }
        arriving.finish()
    }

    async fn read_part(&self, field: Field<'_>, arriving: &mut Arriving) -> Result<(), FormError> {
        let name = field.name().ok_or_else(|| malformed("a part without a name"))?.to_owned();
        if arriving.parts.len() == MAX_PARTS {
            return Err(malformed("more than 16 parts"));
        }
        if arriving.parts.contains_key(&name) {
            return Err(malformed(format!("two parts with the name {name:?}")));
        }
        let file_name = field.file_name().map(str::to_owned);
        let media_type = media_type(&field)?;
        let longest = [Some(name.as_str()), file_name.as_deref(), media_type.as_deref()];
        if longest.into_iter().flatten().any(|text| text.len() > MAX_NAME) {
            return Err(malformed("a name or a type of over 255 bytes"));
        }
        let digest = if file_name.is_some() || name == "file" {
            let content = self.read_file(field, arriving).await?;
            let digest = content.digest().to_owned();
            let (name, media_type) = (file_name.clone(), media_type.clone());
            arriving.file = Some(FormFile { name, media_type, content });
            digest
        } else {
            let text = read_text(field).await?;
            let digest = hex::encode(&Sha256::digest(&text));
            arriving.fields.insert(name.clone(), json!(text));
            digest
        };
        let part = json!({ "name": name, "filename": file_name, "type": media_type, "sha256": digest });
        arriving.parts.insert(name, part);
        Ok(())
    }

    async fn read_file(&self, mut field: Field<'_>, arriving: &Arriving) -> Result<Spooled, FormError> {
        if arriving.file.is_some() {
            return Err(malformed("more than one file"));
        }
        let place = self.places.clone().try_acquire_owned().map_err(|_| FormError::Busy)?;
        let mut spooling = self.spool.begin(place).await.map_err(FormError::Spool)?;
        while let Some(chunk) = field.chunk().await? {
            spooling.write(&chunk).await.map_err(FormError::Spool)?;
        }
        spooling.finish().await.map_err(FormError::Spool)
    }
}

impl Arriving {
    fn finish(self) -> Result<Form, FormError> {
        let parts = Value::Array(self.parts.into_values().collect());
        let fingerprint = fingerprint::of_parts(&parts).map_err(malformed)?;
        Ok(Form { fields: Value::Object(self.fields), file: self.file, fingerprint })
    }
}

fn media_type(field: &Field<'_>) -> Result<Option<String>, FormError> {
    let value = field.headers().get(http::header::CONTENT_TYPE);
    let text = value.map(|value| value.to_str().map(str::to_owned)).transpose();
    text.map_err(|_| malformed("a part's type is not text"))
}

async fn read_text(mut field: Field<'_>) -> Result<String, FormError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await? {
        if bytes.len() + chunk.len() > MAX_FIELD {
            return Err(malformed("a part other than the file is over 16384 bytes"));
        }
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| malformed("a part other than the file is not UTF-8"))
}

fn malformed(why: impl ToString) -> FormError {
    FormError::Malformed(why.to_string())
}

impl From<multer::Error> for FormError {
    fn from(error: multer::Error) -> Self {
        match error {
            multer::Error::StreamSizeExceeded { .. } => Self::TooLarge,
            multer::Error::StreamReadFailed(why) => malformed(why),
            other => malformed(other),
        }
    }
}
