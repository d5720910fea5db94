//! Its port, its connections, and the ways in which it lets its clients down.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, Weak},
};

use onceproof_gateway::world::{BoxIo, SharedWorld, World};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::watch,
};

use super::{
    memory::{Memory, Moment},
    resp::{Reply, take_command},
    session::Session,
};
use crate::sim::{action::RedisLoss, clock, wire::REDIS_PORT};

/// The host of the shared Redis.
pub const HOST: &str = "redis";

/// How much is read at once.
const CHUNK: usize = 16 * 1024;
/// How much is answered at once.
const FLUSH: usize = 64 * 1024;

/// A shared handle to a Redis, which outlives its host.
#[derive(Clone)]
pub struct Redis {
    shared: Arc<Shared>,
}

struct Shared {
    memory: Mutex<Memory>,
    /// The world of the host that serves, for its clock. Weak, because that host's tasks hold this.
    world: Mutex<Option<Weak<dyn World>>>,
    /// Counts the masters. A connection ends with the one that it was made to.
    masters: watch::Sender<u64>,
    /// Counts the commands.
    asked: watch::Sender<u64>,
}

impl Default for Redis {
    fn default() -> Self {
        let shared = Shared {
            memory: Mutex::default(),
            world: Mutex::new(None),
            masters: watch::Sender::new(1),
            asked: watch::Sender::new(0),
        };
        Self { shared: Arc::new(shared) }
    }
}

impl Redis {
    /// An empty Redis.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What a fault takes from it.
    pub fn lose(&self, loss: &RedisLoss) {
        match loss {
            RedisLoss::Everything => self.forget_all(),
            RedisLoss::Keys(pattern) => self.evict(pattern),
            RedisLoss::LastMs(ms) => self.forget_last(*ms),
            RedisLoss::ToReplicaMs(lag_ms) => self.fail_over(*lag_ms),
            RedisLoss::Writes { refused } => self.refuse_writes(*refused),
        }
    }

    /// It loses its memory, as one that keeps nothing on disk does when it restarts.
    pub fn forget_all(&self) {
        self.memory().forget_all();
    }

    /// It loses the writes of the last `ms` milliseconds, up to a minute, as one that writes its log every second
    /// does when it dies. A host that is down counts from the last thing that it was asked.
    pub fn forget_last(&self, ms: u64) {
        let now = self.now();
        self.memory().forget_last(now, ms);
    }

    /// It is short of memory, and gives up every key that fits `pattern` (`*`, `?`, `[a-c]`).
    pub fn evict(&self, pattern: &str) {
        let now = self.now();
        self.memory().evict(now, pattern);
    }

    /// A replica takes over that is `lag_ms` behind: what it never heard of is lost, and every connection ends.
    pub fn fail_over(&self, lag_ms: u64) {
        let now = self.now();
        let mut memory = self.memory();
        memory.forget_last(now, lag_ms);
        memory.forget_scripts();
        drop(memory);
        self.shared.masters.send_modify(|masters| *masters += 1);
    }

    /// It is full and evicts nothing: commands that need memory fail until it is told otherwise.
    pub fn refuse_writes(&self, refuse: bool) {
        self.memory().refuses_writes = refuse;
    }

    /// What a command that changes nothing would be told by it, without a network: the strings in its reply.
    #[must_use]
    pub fn look(&self, command: &[&str]) -> Vec<String> {
        let now = self.now();
        let words = command.iter().map(|word| word.as_bytes().to_vec()).collect();
        let reply = Session::new(0).answer(&mut self.memory(), now, words);
        reply.strings()
    }

    /// Tells of every command that is answered: whoever polls in vain may leave it out, and look when there is news.
    #[must_use]
    pub fn asked(&self) -> watch::Receiver<u64> {
        self.shared.asked.subscribe()
    }

    /// Serves for ever on the host of `world`.
    ///
    /// # Errors
    /// When the port cannot be bound.
    pub async fn serve(self, world: SharedWorld) -> io::Result<()> {
        *self.shared.world.lock().expect(UNPOISONED) = Some(Arc::downgrade(&world));
        self.memory().forget_scripts();
        let mut listener = world.listen(REDIS_PORT).await?;
        for id in 1.. {
            let connection = listener.accept().await?;
            let redis = self.clone();
            world.spawn(Box::pin(async move {
                // A connection that breaks is its client's business.
                let _ = redis.converse(Session::new(id), connection).await;
            }));
        }
        Ok(())
    }

    async fn converse(self, mut session: Session, mut connection: BoxIo) -> io::Result<()> {
        let mut masters = self.shared.masters.subscribe();
        let (mut incoming, mut chunk) = (Vec::new(), vec![0; CHUNK]);
        loop {
            let read = tokio::select! {
                biased;
                _ = masters.changed() => return Ok(()),
                read = connection.read(&mut chunk) => read?,
            };
            incoming.extend_from_slice(&chunk[..read]);
            let goes_on = self.answer_all(&mut session, &mut incoming, &mut connection).await?;
            if read == 0 || !goes_on {
                return Ok(());
            }
        }
    }

    /// Answers every command that has wholly come, and says whether the connection can go on.
    async fn answer_all(
        &self,
        session: &mut Session,
        incoming: &mut Vec<u8>,
        connection: &mut BoxIo,
    ) -> io::Result<bool> {
        let mut replies = Vec::new();
        let goes_on = loop {
            match take_command(incoming) {
                Ok(None) => break true,
                Ok(Some(command)) if command.is_empty() => {}
                Ok(Some(command)) => {
                    let now = self.now();
                    session.answer(&mut self.memory(), now, command).encode(session.protocol, &mut replies);
                    self.shared.asked.send_modify(|asked| *asked += 1);
                }
                Err(error) => {
                    Reply::Error(error.0).encode(session.protocol, &mut replies);
                    break false;
                }
            }
            if replies.len() >= FLUSH {
                connection.write_all(&std::mem::take(&mut replies)).await?;
            }
        };
        connection.write_all(&replies).await?;
        connection.flush().await?;
        Ok(goes_on)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.shared.memory.lock().expect(UNPOISONED)
    }

    /// The clocks of the host, or the last moment that is known of one that is down.
    fn now(&self) -> Moment {
        let world = self.shared.world.lock().expect(UNPOISONED).as_ref().and_then(Weak::upgrade);
        match world {
            Some(world) => Moment { since_boot_ms: clock::ms(world.since_boot()), wall_ms: world.clock_ms() },
            None => self.memory().last,
        }
    }
}

const UNPOISONED: &str = "a panic in the simulated Redis ends the run";
