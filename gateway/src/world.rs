//! What the gateway takes from outside itself: time, chance, tasks, the network, and named points.
//!
//! One small object-safe trait, so that the same gateway serves real sockets and runs in a simulation
//! whose seed decides every byte (H1). Nothing in this crate reads a clock, draws a random number,
//! spawns a task or opens a socket except through it.

use std::{future::Future, io, pin::Pin, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::oneshot,
};

/// A boxed future that owns what it needs.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send + 'static>>;

/// A byte stream: a TCP connection, real or simulated.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

/// A connection of whatever network the world has.
pub type BoxIo = Box<dyn Io>;

/// A shared handle to the world of one host.
pub type SharedWorld = Arc<dyn World>;

/// A bound port that hands out connections.
pub trait Listener: Send + 'static {
    /// The next connection. Errors of single connections are skipped; an error here ends the listener.
    fn accept(&mut self) -> Pin<Box<dyn Future<Output = io::Result<BoxIo>> + Send + '_>>;

    /// The port that is bound, which matters where 0 was asked for.
    fn port(&self) -> u16;
}

/// The outside of one host.
pub trait World: Send + Sync + 'static {
    /// This host's wall clock, in milliseconds since 1970-01-01T00:00:00Z. It may be wrong, and may step.
    fn clock_ms(&self) -> i64;

    /// Time since this host booted. It never steps, and it counts the time that the host was suspended.
    fn since_boot(&self) -> Duration;

    /// Ready after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<()>;

    /// Runs a task on this host. A host that has died runs nothing.
    fn spawn(&self, task: BoxFuture<()>);

    /// Opens a connection. There is no limit in time here: the caller sets one.
    fn connect(&self, host: &str, port: u16) -> BoxFuture<io::Result<BoxIo>>;

    /// Binds a port of this host; 0 takes a free one.
    fn listen(&self, port: u16) -> BoxFuture<io::Result<Box<dyn Listener>>>;

    /// Fills `bytes` from this host's source of chance.
    fn fill_random(&self, bytes: &mut [u8]);

    /// Called at each place where dying matters (see [`crate::points`]). In production it is ready at once.
    /// A simulation may hold the caller here, for a while or for good.
    fn reach(&self, point: &'static str) -> BoxFuture<()>;
}

/// `future`, or `None` once `limit` has passed.
pub async fn within<F: Future>(world: &dyn World, limit: Duration, future: F) -> Option<F::Output> {
    let patience = world.sleep(limit);
    tokio::select! {
        biased;
        output = future => Some(output),
        () = patience => None,
    }
}

/// `task`, which goes on to its end on this host when whoever waits for it no longer does. `None` where it was cut off.
pub async fn to_the_end<T: Send + 'static>(
    world: &dyn World,
    task: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let (done, result) = oneshot::channel();
    world.spawn(Box::pin(async move {
        // Whoever has gone hears nothing.
        let _ = done.send(task.await);
    }));
    result.await.ok()
}
