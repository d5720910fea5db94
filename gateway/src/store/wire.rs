//! The store's wire: a frame is its length (u32, big-endian) and JSON, a [`Command`] one way and a
//! `Result<Answer, StoreError>` ([`Outcome`]) the other. One frame is one transaction.

use std::io;

use serde::{Serialize, de::DeserializeOwned};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Answer, Command, StoreError};

/// The longest frame, in bytes. A command carries at most one body and its answer, or what a webhook of 4 MiB holds, whose
/// JSON is text within JSON here.
pub const MAX_FRAME: usize = 16 * 1024 * 1024;

/// What goes back for a [`Command`].
pub type Outcome = Result<Answer, StoreError>;

/// A frame of `message`: its length, then its JSON.
///
/// # Errors
/// `InvalidData` where it is longer than [`MAX_FRAME`].
pub fn encode<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = frame.len() - 4;
    match u32::try_from(length) {
        Ok(prefix) if length <= MAX_FRAME => {
            frame[..4].copy_from_slice(&prefix.to_be_bytes());
            Ok(frame)
        }
        _ => Err(too_long(length)),
    }
}

/// Writes one frame.
///
/// # Errors
/// What the connection says, or `InvalidData` where the frame is too long.
pub async fn write_frame<T: Serialize>(io: &mut (impl AsyncWrite + Unpin), message: &T) -> io::Result<()> {
    io.write_all(&encode(message)?).await?;
    io.flush().await
}

/// Reads one frame; `None` where the connection ended between two frames.
///
/// # Errors
/// What the connection says; `UnexpectedEof` within a frame; `InvalidData` where it is too long or not a `T`.
pub async fn read_frame<T: DeserializeOwned>(io: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<T>> {
    let mut prefix = [0; 4];
    if io.read(&mut prefix[..1]).await? == 0 {
        return Ok(None);
    }
    io.read_exact(&mut prefix[1..]).await?;
    let length = usize::try_from(u32::from_be_bytes(prefix)).unwrap_or(usize::MAX);
    if length > MAX_FRAME {
        return Err(too_long(length));
    }
    let mut frame = vec![0; length];
    io.read_exact(&mut frame).await?;
    Ok(Some(serde_json::from_slice(&frame)?))
}

/// Answers commands on one connection until it ends, one at a time.
///
/// # Errors
/// As [`read_frame`] and [`write_frame`].
pub async fn serve_connection(
    io: &mut (impl AsyncRead + AsyncWrite + Unpin),
    store: &dyn super::Store,
) -> io::Result<()> {
    while let Some(command) = read_frame::<Command>(io).await? {
        let outcome: Outcome = store.execute(command).await;
        write_frame(io, &outcome).await?;
    }
    Ok(())
}

fn too_long(length: usize) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("a frame of {length} bytes is over the limit of {MAX_FRAME}"),
    )
}
