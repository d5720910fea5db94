//! What a client of Redis says and hears on one connection.

use std::{io, time::Duration};

use futures::FutureExt;
use onceproof_gateway::world::{BoxIo, SharedWorld, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::sim::{actors::redis, wire::REDIS_PORT};

/// What Redis replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A word or a string.
    Text(String),
    /// An integer.
    Number(i64),
    /// Nothing.
    Nil,
    /// An array.
    Array(Vec<Reply>),
}

impl Reply {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// A connection to the Redis of a world.
pub struct Connection {
    io: BoxIo,
    /// What has come and is not taken.
    read: Vec<u8>,
}

impl Connection {
    /// Makes one, for no longer than `limit`.
    ///
    /// # Errors
    /// What the network says, or that it said nothing.
    pub async fn open(world: &SharedWorld, limit: Duration) -> io::Result<Self> {
        let made = within(&**world, limit, world.connect(redis::HOST, REDIS_PORT)).await;
        Ok(Self { io: made.unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()))?, read: Vec::new() })
    }

    /// Whether Redis has neither hung up nor said anything that nobody asked for.
    pub fn is_idle(&mut self) -> bool {
        self.read.is_empty() && self.more().now_or_never().is_none()
    }

    /// Says a command.
    ///
    /// # Errors
    /// What the connection says.
    pub async fn say(&mut self, command: &[&str]) -> io::Result<()> {
        let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
        for word in command {
            bytes.extend(format!("${}\r\n{word}\r\n", word.len()).into_bytes());
        }
        self.io.write_all(&bytes).await?;
        self.io.flush().await
    }

    /// Hears one reply: what Redis says, or why it refuses.
    ///
    /// # Errors
    /// What the connection says, or that this is no reply.
    pub async fn reply(&mut self) -> io::Result<Result<Reply, String>> {
        let line = self.line().await?;
        let (kind, rest) = (line.as_bytes().first().copied(), line.get(1..).unwrap_or_default());
        let number = || rest.parse::<i64>().map_err(io::Error::other);
        Ok(Ok(match kind {
            Some(b'+') => Reply::Text(rest.into()),
            Some(b':') => Reply::Number(number()?),
            Some(b'$') => match usize::try_from(number()?) {
                Ok(length) => Reply::Text(self.string(length).await?),
                Err(_) => Reply::Nil,
            },
            Some(b'*') => {
                let mut replies = Vec::new();
                for _ in 0..number()? {
                    let reply = Box::pin(self.reply()).await?;
                    replies.push(reply.unwrap_or(Reply::Nil));
                }
                Reply::Array(replies)
            }
            Some(b'-') => return Ok(Err(rest.into())),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }))
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.read.windows(2).position(|bytes| bytes == b"\r\n") {
                let line: Vec<u8> = self.read.drain(..end + 2).collect();
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            self.more().await?;
        }
    }

    async fn string(&mut self, length: usize) -> io::Result<String> {
        while self.read.len() < length + 2 {
            self.more().await?;
        }
        let string: Vec<u8> = self.read.drain(..length + 2).collect();
        Ok(String::from_utf8_lossy(&string[..length]).into_owned())
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.io.read_buf(&mut self.read).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}
