//! One end of a connection: turmoil's stream, and the resets that turmoil does not know.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::TcpStream;

use super::links::{End, Links};

/// An open end.
pub struct Line {
    stream: TcpStream,
    end: End,
    links: Arc<Links>,
}

impl Line {
    /// The end that `stream` is.
    ///
    /// # Errors
    /// When the stream has no addresses.
    pub fn new(stream: TcpStream, links: Arc<Links>) -> io::Result<Self> {
        let end = (stream.local_addr()?, stream.peer_addr()?);
        links.open(end);
        Ok(Self { stream, end, links })
    }

    fn check(&self) -> io::Result<()> {
        if self.links.is_torn(self.end) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check()?;
        self.links.wait(self.end, context.waker());
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        self.links.note_sent(self.end);
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        self.links.note_sent(self.end);
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.links.close(self.end);
    }
}
