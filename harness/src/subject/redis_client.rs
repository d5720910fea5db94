//! A client of Redis that fails and comes back as ioredis does: it connects anew, and says again what was not answered.

use std::{io, time::Duration};

use onceproof_gateway::world::{BoxIo, SharedWorld, within};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::Mutex,
};

use crate::sim::{actors::redis, wire::REDIS_PORT};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// The pause before an attempt to connect grows by this each time…
const PAUSE: Duration = Duration::from_millis(50);
/// …up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// So many attempts fail before a command does, where there is a limit.
const ATTEMPTS: u32 = 20;

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

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// Redis said no.
    #[error("{0}")]
    Refused(String),
    /// It was not reached, time and again.
    #[error("Reached the max retries per request limit")]
    Unreached,
}

/// One connection, made when it is first needed. Whoever comes while it is used waits.
pub struct Client {
    world: SharedWorld,
    /// Whether a command is given up after [`ATTEMPTS`]; otherwise it waits for ever.
    gives_up: bool,
    connection: Mutex<Option<Connection>>,
}

impl Client {
    /// A client of the Redis of this world.
    pub fn new(world: &SharedWorld, gives_up: bool) -> Self {
        Self { world: world.clone(), gives_up, connection: Mutex::default() }
    }

    /// Says a command until it is answered. One whose answer was lost is said, and so done, again.
    ///
    /// # Errors
    /// When Redis refuses it, or cannot be reached.
    pub async fn ask(&self, command: &[&str]) -> Result<Reply, RedisError> {
        let mut place = self.connection.lock().await;
        for attempt in 1.. {
            // Out of its place while it is used, so that nobody goes on with one that was left in the middle.
            if let Ok((connection, reply)) = self.attempt(place.take(), command).await {
                *place = Some(connection);
                return reply.map_err(RedisError::Refused);
            }
            if self.gives_up && attempt > ATTEMPTS {
                break;
            }
            self.world.sleep((PAUSE * attempt).min(LONGEST_PAUSE)).await;
        }
        Err(RedisError::Unreached)
    }

    async fn attempt(
        &self,
        connection: Option<Connection>,
        command: &[&str],
    ) -> io::Result<(Connection, Result<Reply, String>)> {
        let mut connection = match connection {
            Some(connection) => connection,
            None => {
                let made = within(&*self.world, CONNECT, self.world.connect(redis::HOST, REDIS_PORT)).await;
                Connection {
                    io: made.unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()))?,
                    read: Vec::new(),
                }
            }
        };
        connection.say(command).await?;
        let reply = connection.reply().await?;
        Ok((connection, reply))
    }
}

struct Connection {
    io: BoxIo,
    /// What has come and is not taken.
    read: Vec<u8>,
}

impl Connection {
    async fn say(&mut self, command: &[&str]) -> io::Result<()> {
        let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
        for word in command {
            bytes.extend(format!("${}\r\n{word}\r\n", word.len()).into_bytes());
        }
        self.io.write_all(&bytes).await?;
        self.io.flush().await
    }

    async fn reply(&mut self) -> io::Result<Result<Reply, String>> {
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
