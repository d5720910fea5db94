//! A client of Redis that fails and comes back as ioredis does: it connects anew, and says again what was not answered.

use std::{io, time::Duration};

use onceproof_gateway::world::SharedWorld;
use tokio::sync::Mutex;

use crate::subject::resp::{Connection, Reply};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// The pause before an attempt to connect grows by this each time…
const PAUSE: Duration = Duration::from_millis(50);
/// …up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// So many attempts fail before a command does, where there is a limit.
const ATTEMPTS: u32 = 20;

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
            None => Connection::open(&self.world, CONNECT).await?,
        };
        connection.say(command).await?;
        let reply = connection.reply().await?;
        Ok((connection, reply))
    }
}
