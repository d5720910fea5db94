//! Writes down what the hosts of a case say on every connection that they open.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll},
    time::Duration,
};

use onceproof::sim::{action::Change, cast::Company, engine::Cast};
use onceproof_gateway::world::{BoxFuture, BoxIo, Listener, SharedWorld, World};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// One connection, as its client saw it.
pub struct Line {
    pub from: String,
    pub to: String,
    pub port: u16,
    pub opened_ms: u64,
    /// What was written, and when.
    pub written: Vec<(u64, Vec<u8>)>,
    pub read: Vec<u8>,
}

/// All connections of a run, in the order in which they were begun.
#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<Line>>>);

impl Lines {
    pub fn lock(&self) -> MutexGuard<'_, Vec<Line>> {
        self.0.lock().expect("a panic in a tapped run ends the benchmark")
    }

    /// The company with every world tapped.
    pub fn tap(&self, company: Company) -> Arc<dyn Cast> {
        Arc::new(Tapped { company, lines: self.clone() })
    }
}

struct Tapped {
    company: Company,
    lines: Lines,
}

impl Cast for Tapped {
    fn program(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        let tapped = TappedWorld { inner: world, host: host.into(), lines: self.lines.clone() };
        self.company.program(host, Arc::new(tapped))
    }

    fn change(&self, change: &Change) {
        self.company.change(change);
    }

    fn curtain(&self, now_ms: u64) {
        self.company.curtain(now_ms);
    }
}

struct TappedWorld {
    inner: SharedWorld,
    host: String,
    lines: Lines,
}

impl World for TappedWorld {
    fn clock_ms(&self) -> i64 {
        self.inner.clock_ms()
    }

    fn since_boot(&self) -> Duration {
        self.inner.since_boot()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        self.inner.sleep(duration)
    }

    fn spawn(&self, task: BoxFuture<()>) {
        self.inner.spawn(task);
    }

    fn connect(&self, host: &str, port: u16) -> BoxFuture<io::Result<BoxIo>> {
        let (world, lines) = (Arc::clone(&self.inner), self.lines.clone());
        let opened_ms = since_boot_ms(&world);
        let mut all = lines.lock();
        let number = all.len();
        let (from, to) = (self.host.clone(), host.to_owned());
        all.push(Line { from, to, port, opened_ms, written: Vec::new(), read: Vec::new() });
        drop(all);
        let connecting = self.inner.connect(host, port);
        Box::pin(async move {
            let io = connecting.await?;
            Ok(Box::new(TappedIo { io, world, lines, number }) as BoxIo)
        })
    }

    fn listen(&self, port: u16) -> BoxFuture<io::Result<Box<dyn Listener>>> {
        self.inner.listen(port)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.inner.fill_random(bytes);
    }

    fn reach(&self, point: &'static str) -> BoxFuture<()> {
        self.inner.reach(point)
    }
}

/// The simulation's hosts boot when the run begins.
pub fn since_boot_ms(world: &SharedWorld) -> u64 {
    world.since_boot().as_millis() as u64
}

struct TappedIo {
    io: BoxIo,
    world: SharedWorld,
    lines: Lines,
    number: usize,
}

impl AsyncRead for TappedIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.io).poll_read(context, buffer);
        self.lines.lock()[self.number].read.extend_from_slice(&buffer.filled()[before..]);
        polled
    }
}

impl AsyncWrite for TappedIo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.io).poll_write(context, bytes);
        if let Poll::Ready(Ok(length)) = polled {
            let at_ms = since_boot_ms(&self.world);
            self.lines.lock()[self.number].written.push((at_ms, bytes[..length].to_vec()));
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
