//! The world of one host on `turmoil::Sim`.

use std::{
    future::{Future, pending},
    io,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use onceproof_gateway::world::{BoxFuture, BoxIo, Listener, World};
use turmoil::net::{TcpListener, TcpStream};

use super::{line::Line, links::Links, tasks::Tasks, timers::Timers};
use crate::sim::{clock, stage::Stage};

/// What one incarnation of a host sees.
pub struct HostWorld {
    pub(super) name: String,
    pub(super) ip: IpAddr,
    pub(super) stage: Arc<Stage>,
    pub(super) timers: Arc<Timers>,
    pub(super) links: Arc<Links>,
    pub(super) tasks: Arc<Tasks>,
}

impl World for HostWorld {
    fn clock_ms(&self) -> i64 {
        clock::wall_ms(self.timers.now_ms())
    }

    fn since_boot(&self) -> Duration {
        Duration::from_millis(self.timers.now_ms())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        // Destructors of a dead incarnation run where there is no runtime to wait on.
        if self.tasks.is_closed() {
            return Box::pin(pending());
        }
        self.timers.sleep(duration)
    }

    fn spawn(&self, task: BoxFuture<()>) {
        self.tasks.spawn(task);
    }

    fn connect(&self, host: &str, port: u16) -> BoxFuture<io::Result<BoxIo>> {
        let (host, here, links) = (host.to_owned(), self.ip, Arc::clone(&self.links));
        Box::pin(async move {
            let opened = TcpStream::connect((host.as_str(), port)).await;
            let opened = opened.and_then(|stream| Line::new(stream, Arc::clone(&links)));
            // turmoil refuses at once when the opening is dropped on its way, and lets the answer to it pass
            // through every partition. On a real network both openings hang until the caller gives up.
            let there = turmoil::lookup(host.as_str());
            let lost_on = match &opened {
                Ok(_) => (there, here),
                Err(_) => (here, there),
            };
            if links.swallows(lost_on) {
                let _kept_until_the_caller_gives_up = opened;
                return pending().await;
            }
            Ok(Box::new(opened?) as BoxIo)
        })
    }

    fn listen(&self, port: u16) -> BoxFuture<io::Result<Box<dyn Listener>>> {
        let links = Arc::clone(&self.links);
        Box::pin(async move {
            let listener = TcpListener::bind(("0.0.0.0", port)).await?;
            Ok(Box::new(Bound { listener, links }) as Box<dyn Listener>)
        })
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.stage.fill_random(&self.name, bytes);
    }

    fn reach(&self, point: &'static str) -> BoxFuture<()> {
        Box::pin(self.stage.reach(self.timers.now_ms(), &self.name, point))
    }
}

struct Bound {
    listener: TcpListener,
    links: Arc<Links>,
}

impl Listener for Bound {
    fn accept(&mut self) -> Pin<Box<dyn Future<Output = io::Result<BoxIo>> + Send + '_>> {
        Box::pin(async move {
            let (stream, _) = self.listener.accept().await?;
            Ok(Box::new(Line::new(stream, Arc::clone(&self.links))?) as BoxIo)
        })
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }
}
