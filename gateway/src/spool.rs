//! Where an upload waits until its last byte has come (S8): hashed while it arrives, and read again when it is handed
//! over.

use std::{fs::File, io, path::PathBuf, pin::Pin};

use bytes::{Bytes, BytesMut};
use futures::{Stream, stream};
use sha2::{Digest, Sha256};
use tokio::{
    io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt},
    sync::OwnedSemaphorePermit,
};

use crate::hex;

/// How much of a file is in memory at a time while it is read or written.
pub const CHUNK: usize = 64 * 1024;

/// Where uploads are spooled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spool {
    /// In memory: for simulations, whose uploads are small.
    Memory,
    /// In files without a name in this folder: they are gone when they are closed, even by a crash.
    Folder(PathBuf),
}

/// An upload that is arriving.
pub(crate) struct Spooling {
    sink: Sink,
    length: u64,
    hash: Sha256,
    permit: OwnedSemaphorePermit,
}

enum Sink {
    Memory(BytesMut),
    File(tokio::fs::File),
}

/// An upload that has arrived.
#[derive(Debug)]
pub struct Spooled {
    content: Content,
    length: u64,
    digest: String,
    /// Its place among the uploads that are allowed at a time.
    _permit: OwnedSemaphorePermit,
}

#[derive(Debug)]
enum Content {
    Memory(Bytes),
    File(File),
}

/// The bytes of an upload, a chunk at a time.
pub(crate) type Chunks = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

impl Spool {
    /// Begins an upload.
    pub(crate) async fn begin(&self, permit: OwnedSemaphorePermit) -> io::Result<Spooling> {
        let sink = match self {
            Self::Memory => Sink::Memory(BytesMut::new()),
            Self::Folder(folder) => {
                let folder = folder.clone();
                let file = tokio::task::spawn_blocking(move || tempfile::tempfile_in(folder)).await??;
                let mut file = tokio::fs::File::from_std(file);
                file.set_max_buf_size(CHUNK);
                Sink::File(file)
            }
        };
        Ok(Spooling { sink, length: 0, hash: Sha256::new(), permit })
    }
}

impl Spooling {
    pub(crate) async fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.length = self.length.saturating_add(chunk.len() as u64);
        self.hash.update(chunk);
        match &mut self.sink {
            Sink::Memory(bytes) => bytes.extend_from_slice(chunk),
            Sink::File(file) => file.write_all(chunk).await?,
        }
        Ok(())
    }

    pub(crate) async fn finish(self) -> io::Result<Spooled> {
        let content = match self.sink {
            Sink::Memory(bytes) => Content::Memory(bytes.freeze()),
            Sink::File(mut file) => {
                file.flush().await?;
                Content::File(file.into_std().await)
            }
        };
        let digest = hex::encode(&self.hash.finalize());
        Ok(Spooled { content, length: self.length, digest, _permit: self.permit })
    }
}

impl Spooled {
    /// In bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// SHA-256 of the content, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The content from its beginning. One reader at a time: they share the file's position.
    pub(crate) async fn read(&self) -> io::Result<Chunks> {
        match &self.content {
            Content::Memory(bytes) => {
                let bytes = bytes.clone();
                Ok(Box::pin(stream::once(async move { Ok(bytes) })))
            }
            Content::File(file) => {
                let mut file = tokio::fs::File::from_std(file.try_clone()?);
                file.set_max_buf_size(CHUNK);
                file.rewind().await?;
                Ok(Box::pin(stream::try_unfold(file, next_chunk)))
            }
        }
    }
}

async fn next_chunk(mut file: tokio::fs::File) -> io::Result<Option<(Bytes, tokio::fs::File)>> {
    let mut chunk = BytesMut::with_capacity(CHUNK);
    let read = file.read_buf(&mut chunk).await?;
    Ok((read > 0).then(|| (chunk.freeze(), file)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::TryStreamExt;
    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn what_was_written_is_read_twice_a_chunk_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..300_000_u32).map(|index| (index % 251) as u8).collect();
        for spool in [Spool::Memory, Spool::Folder(folder.path().into())] {
            let permit = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
            let mut spooling = spool.begin(permit).await.unwrap();
            for chunk in bytes.chunks(7000) {
                spooling.write(chunk).await.unwrap();
            }
            let spooled = spooling.finish().await.unwrap();
            assert_eq!(spooled.length(), 300_000);
            assert_eq!(spooled.digest(), hex::encode(&Sha256::digest(&bytes)));
            for _ in 0..2 {
                let chunks: Vec<Bytes> = spooled.read().await.unwrap().try_collect().await.unwrap();
                assert_eq!(chunks.concat(), bytes);
                let is_small = chunks.iter().all(|chunk| chunk.len() <= CHUNK);
                assert!(is_small || spool == Spool::Memory);
            }
            // Unnamed: nothing to be cleared away.
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
