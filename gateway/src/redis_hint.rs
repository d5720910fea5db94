//! A hint kept in Redis.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use redis::{AsyncConnectionConfig, Cmd, RedisConnectionInfo, aio::MultiplexedConnection};
use tokio::sync::oneshot;

use crate::{
    hint::Hint,
    world::{BoxFuture, SharedWorld, within},
};

/// Redis did not answer. It is no more than a missing hint: whoever asked goes to the database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no hint: {0}")]
pub struct HintError(pub String);

/// Speaks to a Redis over one connection, which all callers share and which is made when it is first needed.
///
/// A connection on which anything went wrong is given up, so that the next caller makes a new one. A command is
/// never repeated: the database answers faster than a second attempt.
pub struct RedisHint {
    link: Arc<Link>,
    timeout: Duration,
}

impl std::fmt::Debug for RedisHint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RedisHint").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl RedisHint {
    /// A Redis at `host:port`; nothing is connected yet. `timeout` covers a whole call, the connection included.
    #[must_use]
    pub fn new(world: SharedWorld, host: &str, port: u16, timeout: Duration) -> Self {
        let link = Link {
            world,
            host: host.to_owned(),
            port,
            current: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
        };
        Self { link: Arc::new(link), timeout }
    }

    fn ask(&self, command: Cmd) -> BoxFuture<Result<redis::Value, HintError>> {
        let (link, timeout) = (Arc::clone(&self.link), self.timeout);
        Box::pin(async move {
            let mut used = None;
            let exchange = link.exchange(&command, &mut used);
            let (error, broken) = match within(&*link.world, timeout, exchange).await {
                Some(Ok(value)) => return Ok(value),
                Some(Err(error)) => (error.to_string(), error.is_unrecoverable_error()),
                // What is late now would be late for the next caller too.
                None => ("no answer in time".to_owned(), true),
            };
            if let (Some(used), true) = (used, broken) {
                link.give_up(&used);
            }
            Err(HintError(error))
        })
    }
}

impl RedisHint {
    /// Whether `key` was marked, as far as Redis remembers.
    pub fn find(&self, key: &str) -> BoxFuture<Result<bool, HintError>> {
        let answer = self.ask(redis::cmd("EXISTS").arg(key).take());
        Box::pin(async move {
            match answer.await? {
                redis::Value::Int(found) => Ok(found > 0),
                other => Err(HintError(format!("not an answer to EXISTS: {other:?}"))),
            }
        })
    }

    /// Marks `key` for `ttl`.
    pub fn remember(&self, key: &str, ttl: Duration) -> BoxFuture<Result<(), HintError>> {
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        if ttl_ms == 0 {
            // Redis refuses to remember something for no time, which is no failure.
            return Box::pin(std::future::ready(Ok(())));
        }
        // NX, so that a redelivery cannot make the hint outlive the record that it stands for.
        let command = redis::cmd("SET").arg(key).arg("1").arg("NX").arg("PX").arg(ttl_ms).take();
        let answer = self.ask(command);
        Box::pin(async move { answer.await.map(drop) })
    }
}

impl Hint for RedisHint {
    fn mark(&self, key: &str, ttl: Duration) -> BoxFuture<()> {
        let marked = self.remember(key, ttl);
        // What was not remembered is looked up in the database.
        Box::pin(async move { drop(marked.await) })
    }

    fn seen(&self, key: &str) -> BoxFuture<bool> {
        let found = self.find(key);
        Box::pin(async move { found.await.unwrap_or(false) })
    }
}

struct Link {
    world: SharedWorld,
    host: String,
    port: u16,
    current: Mutex<Option<Connection>>,
    /// Held by the one caller that makes a connection for all.
    connecting: tokio::sync::Mutex<()>,
}

/// A connection, and the life of the task that drives it.
#[derive(Clone)]
struct Connection {
    redis: MultiplexedConnection,
    /// The task ends with the last of these. redis-rs alone would keep the socket until every answer has come, which
    /// a Redis that hangs never gives.
    life: Arc<oneshot::Sender<Infallible>>,
}

impl Link {
    /// One command and its answer, over the connection that is left in `used`.
    async fn exchange(
        &self,
        command: &Cmd,
        used: &mut Option<Connection>,
    ) -> redis::RedisResult<redis::Value> {
        let connection = used.insert(self.connection().await?);
        command.query_async(&mut connection.redis).await
    }

    /// The current connection, or a new one if there is none that lives.
    async fn connection(&self) -> redis::RedisResult<Connection> {
        if let Some(connection) = self.living() {
            return Ok(connection);
        }
        let _alone = self.connecting.lock().await;
        match self.living() {
            Some(connection) => Ok(connection),
            None => self.connect().await,
        }
    }

    fn living(&self) -> Option<Connection> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().filter(|connection| !connection.life.is_closed()).cloned()
    }

    async fn connect(&self) -> redis::RedisResult<Connection> {
        let io = self.world.connect(&self.host, self.port).await?;
        let info = RedisConnectionInfo::default().set_skip_set_lib_name();
        // Time is the world's: `ask` limits each call, and redis-rs's own clock stays out of it.
        let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
        let (redis, driver) = MultiplexedConnection::new_with_config(&info, io, config).await?;
        let (life, given_up) = oneshot::channel();
        self.world.spawn(Box::pin(async move {
            tokio::select! {
                biased;
                _ = given_up => {}
                () = driver => {}
            }
        }));
        let connection = Connection { redis, life: Arc::new(life) };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection.clone());
        Ok(connection)
    }

    /// Whoever comes next makes a new connection, unless somebody has already.
    fn give_up(&self, used: &Connection) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(&current.life, &used.life)) {
            *current = None;
        }
    }
}
