//! Clients of PostgreSQL, as node-postgres pools them: ten at the most, and nobody is given up on.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use onceproof_gateway::{
    store::wire,
    world::{BoxIo, SharedWorld, within},
};
use tokio::{
    io::AsyncReadExt,
    sync::{OwnedSemaphorePermit, Semaphore},
};

use super::failure::Failure;
use crate::sim::{
    actors::postgres::{Answer, Outcome, Statement},
    cast::DATABASE,
    wire::STORE_PORT,
};

/// So many connections at the same time; whoever comes then waits.
const MAX: usize = 10;
/// A system asks so often for a connection before it gives up, and waits twice as long each time, from a second on.
const SYNS: u32 = 7;

/// The pool of one process.
pub struct Pool {
    world: SharedWorld,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<BoxIo>>,
}

/// A client that is out of the pool.
pub struct Client {
    pool: Arc<Pool>,
    /// None once the connection has broken.
    io: Option<BoxIo>,
    _place: OwnedSemaphorePermit,
}

impl Pool {
    /// A pool without a connection.
    pub fn new(world: &SharedWorld) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(MAX));
        Arc::new(Self { world: world.clone(), places, idle: Mutex::default() })
    }

    /// A client, as soon as there is one.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn client(self: &Arc<Self>) -> Result<Client, Failure> {
        let place = Arc::clone(&self.places).acquire_owned().await.expect("nobody closes the pool");
        let io = match self.idle() {
            Some(io) => io,
            None => self.connect().await.map_err(Failure::Database)?,
        };
        Ok(Client { pool: Arc::clone(self), io: Some(io), _place: place })
    }

    /// An idle connection on which the database has neither said anything nor hung up.
    fn idle(&self) -> Option<BoxIo> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(mut io) = idle.pop() {
            if io.read(&mut [0]).now_or_never().is_none() {
                return Some(io);
            }
        }
        None
    }

    async fn connect(&self) -> io::Result<BoxIo> {
        for asked in 0..SYNS {
            let patience = Duration::from_secs(1 << asked);
            let made = within(&*self.world, patience, self.world.connect(DATABASE, STORE_PORT)).await;
            if let Some(made) = made {
                return made;
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

impl Client {
    /// Executes a statement, however long that takes.
    ///
    /// # Errors
    /// When the database refuses it, or the connection breaks: it may have been executed.
    pub async fn query(&mut self, statement: Statement) -> Result<Answer, Failure> {
        // Out of its place meanwhile, so that one that breaks is used no more.
        let mut io = self.io.take().ok_or_else(|| Failure::Database(io::ErrorKind::NotConnected.into()))?;
        let outcome = exchange(&mut io, &statement).await.map_err(Failure::Database)?;
        self.io = Some(io);
        Ok(outcome?)
    }

    /// Gives the client back; what has failed is rolled back first, and a failure of that changes nothing.
    pub async fn end<T>(mut self, done: Result<T, Failure>) -> Result<T, Failure> {
        if done.is_err() {
            let _ = self.query(Statement::Rollback).await;
        }
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.io.take());
        drop(idle);
        done
    }
}

async fn exchange(io: &mut BoxIo, statement: &Statement) -> io::Result<Outcome> {
    wire::write_frame(io, statement).await?;
    wire::read_frame(io).await?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
