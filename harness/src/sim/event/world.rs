//! The world of one host on the simulated network.

use std::{future::Future, io, pin::Pin, sync::Arc, time::Duration};

use onceproof_gateway::world::{BoxFuture, BoxIo, Listener, World};
use tokio::time::Instant;
use turmoil_net::shim::tokio::net::{TcpListener, TcpStream};

use super::hosts::Hosts;
use crate::sim::{clock, stage::Stage};

/// What one incarnation of a host sees.
pub struct HostWorld {
    pub(super) hosts: Arc<Hosts>,
    pub(super) stage: Arc<Stage>,
    pub(super) host: usize,
    pub(super) name: String,
    pub(super) generation: u32,
    pub(super) began: Instant,
}

impl HostWorld {
    fn now_ms(&self) -> u64 {
        clock::ms(self.began.elapsed())
    }
}

impl World for HostWorld {
    fn clock_ms(&self) -> i64 {
        clock::wall_ms(self.now_ms()) + self.hosts.clock_offset_ms(self.host)
    }

    fn since_boot(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<()>) {
        self.hosts.spawn(self.host, self.generation, task);
    }

    fn connect(&self, host: &str, port: u16) -> BoxFuture<io::Result<BoxIo>> {
        let host = host.to_owned();
        Box::pin(async move {
            let stream = TcpStream::connect((host, port)).await?;
            Ok(Box::new(stream) as BoxIo)
        })
    }

    fn listen(&self, port: u16) -> BoxFuture<io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let listener = TcpListener::bind(("0.0.0.0", port)).await?;
            Ok(Box::new(Bound(listener)) as Box<dyn Listener>)
        })
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.stage.fill_random(&self.name, bytes);
    }

    fn reach(&self, point: &'static str) -> BoxFuture<()> {
        Box::pin(self.stage.reach(self.now_ms(), &self.name, point))
    }
}

struct Bound(TcpListener);

impl Listener for Bound {
    fn accept(&mut self) -> Pin<Box<dyn Future<Output = io::Result<BoxIo>> + Send + '_>> {
        Box::pin(async move {
            let (stream, _) = self.0.accept().await?;
            Ok(Box::new(stream) as BoxIo)
        })
    }

    fn port(&self) -> u16 {
        self.0.local_addr().map_or(0, |address| address.port())
    }
}
