//! A client of Redis that fails and comes back as node-redis does: what was said when the connection breaks is not said
//! again, and what is not said waits until there is a new one.

use std::time::Duration;

use onceproof_gateway::world::SharedWorld;
use tokio::sync::Mutex;

use super::failure::Failure;
use crate::subject::resp::{Connection, Reply};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// The first pause before another attempt; each is twice the one before…
const PAUSE: Duration = Duration::from_millis(50);
/// …up to this, …
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// …and up to this much longer.
const JITTER_MS: u16 = 200;

/// One connection, made when it is first needed. Whoever comes while it is used waits.
pub struct Client {
    world: SharedWorld,
    connection: Mutex<Option<Connection>>,
}

impl Client {
    /// A client of the Redis of this world.
    pub fn new(world: &SharedWorld) -> Self {
        Self { world: world.clone(), connection: Mutex::default() }
    }

    /// Says a command once, however long it takes to be connected.
    ///
    /// # Errors
    /// When Redis refuses it, or the connection breaks: it may have been done.
    pub async fn ask(&self, command: &[&str]) -> Result<Reply, Failure> {
        let mut place = self.connection.lock().await;
        // Out of its place while it is used, so that nobody goes on with one that was left in the middle.
        let kept = place.take().and_then(|mut kept| kept.is_idle().then_some(kept));
        let mut connection = match kept {
            Some(connection) => connection,
            None => self.connect().await,
        };
        let reply = async {
            connection.say(command).await?;
            connection.reply().await
        };
        let reply = reply.await.map_err(Failure::Redis)?;
        *place = Some(connection);
        reply.map_err(Failure::Refused)
    }

    async fn connect(&self) -> Connection {
        let mut pause = PAUSE;
        loop {
            if let Ok(connection) = Connection::open(&self.world, CONNECT).await {
                return connection;
            }
            self.world.sleep(pause + self.jitter()).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn jitter(&self) -> Duration {
        let mut drawn = [0; 2];
        self.world.fill_random(&mut drawn);
        Duration::from_millis((u16::from_be_bytes(drawn) % JITTER_MS).into())
    }
}
