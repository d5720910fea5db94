//! A store behind the network.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    Answer, Command, Store, StoreError,
    wire::{self, Outcome},
};
use crate::world::{BoxFuture, BoxIo, SharedWorld, within};

/// Idle connections beyond this many are closed.
const MAX_IDLE: usize = 8;

/// Speaks to a store over the [`wire`]: one frame in flight on a connection, and as many connections as there are
/// concurrent commands, so that none waits behind a stuck one.
pub struct RemoteStore {
    link: Arc<Link>,
    timeout: Duration,
}

struct Link {
    world: SharedWorld,
    host: String,
    port: u16,
    idle: Mutex<Vec<BoxIo>>,
}

impl RemoteStore {
    /// A store at `host:port`; nothing is connected yet. `timeout` covers a whole command, the connection
    /// included ([`crate::policy::Policy::store_timeout`]).
    #[must_use]
    pub fn new(world: SharedWorld, host: &str, port: u16, timeout: Duration) -> Self {
        let link = Link { world, host: host.to_owned(), port, idle: Mutex::default() };
        Self { link: Arc::new(link), timeout }
    }
}

impl Store for RemoteStore {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        let link = self.link.clone();
        let timeout = self.timeout;
        Box::pin(async move {
            let mut has_left = false;
            let exchange = link.exchange(&command, &mut has_left);
            let failure = match within(&*link.world, timeout, exchange).await {
                Some(Ok(outcome)) => return outcome,
                Some(Err(error)) => error.to_string(),
                None => "no answer in time".to_owned(),
            };
            Err(match has_left {
                true => StoreError::Ambiguous(failure),
                false => StoreError::Unreached(failure),
            })
        })
    }
}

impl Link {
    /// One command and its outcome. A connection that fails, or whose exchange is given up, is dropped with this
    /// future: a late answer must not be taken for the next command's.
    async fn exchange(&self, command: &Command, has_left: &mut bool) -> io::Result<Outcome> {
        let frame = wire::encode(command)?;
        let mut io = match self.idle_connection() {
            Some(io) => io,
            None => self.world.connect(&self.host, self.port).await?,
        };
        let written = io.write(&frame).await?;
        *has_left = written > 0;
        io.write_all(&frame[written..]).await?;
        io.flush().await?;
        let outcome = wire::read_frame(&mut io).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.keep(io);
        Ok(outcome)
    }

    /// An idle connection on which the peer has neither said anything nor hung up.
    fn idle_connection(&self) -> Option<BoxIo> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(mut io) = idle.pop() {
            if io.read(&mut [0]).now_or_never().is_none() {
                return Some(io);
            }
        }
        None
    }

    fn keep(&self, io: BoxIo) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(io);
        }
    }
}
