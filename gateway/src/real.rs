//! The world itself: tokio's sockets and timers, the kernel's clocks and chance.

use std::{
    future::Future,
    io,
    net::{IpAddr, Ipv4Addr},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use rustix::time::{ClockId, Timespec, clock_gettime};
use tokio::net::{TcpListener, TcpStream};

use crate::world::{BoxFuture, BoxIo, Listener, SharedWorld, World};

/// A clock that counts suspended time: a laptop that slept past a send deadline must know it (S10).
#[cfg(any(target_os = "linux", target_os = "android"))]
const SINCE_BOOT: ClockId = ClockId::Boottime;
/// Elsewhere the monotonic clock is the nearest thing.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SINCE_BOOT: ClockId = ClockId::Monotonic;

/// How long accepting pauses when the process has no descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A host of the real world. It has to be used within a tokio runtime with its drivers enabled.
#[derive(Debug)]
pub struct TokioWorld {
    /// Where its ports are bound.
    address: IpAddr,
}

impl TokioWorld {
    /// A shared handle to a host that listens on the loopback address only.
    #[must_use]
    pub fn shared() -> SharedWorld {
        Self::listening_on(Ipv4Addr::LOCALHOST.into())
    }

    /// A shared handle to a host that listens on this address.
    #[must_use]
    pub fn listening_on(address: IpAddr) -> SharedWorld {
        Arc::new(Self { address })
    }
}

impl World for TokioWorld {
    fn clock_ms(&self) -> i64 {
        let time = clock_gettime(ClockId::Realtime);
        time.tv_sec.saturating_mul(1000).saturating_add(time.tv_nsec / 1_000_000)
    }

    fn since_boot(&self) -> Duration {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(SINCE_BOOT);
        Duration::new(u64::try_from(tv_sec).unwrap_or_default(), u32::try_from(tv_nsec).unwrap_or_default())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<()>) {
        drop(tokio::spawn(task));
    }

    fn connect(&self, host: &str, port: u16) -> BoxFuture<io::Result<BoxIo>> {
        let host = host.to_owned();
        Box::pin(async move {
            let stream = TcpStream::connect((host.as_str(), port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as BoxIo)
        })
    }

    fn listen(&self, port: u16) -> BoxFuture<io::Result<Box<dyn Listener>>> {
        let address = self.address;
        Box::pin(async move {
            let listener = TcpListener::bind((address, port)).await?;
            let port = listener.local_addr()?.port();
            Ok(Box::new(TokioListener { listener, port }) as Box<dyn Listener>)
        })
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        // Without chance no claim is safe, and no kernel that runs this lacks it.
        getrandom::fill(bytes).expect("the kernel gives random bytes");
    }

    fn reach(&self, _point: &'static str) -> BoxFuture<()> {
        Box::pin(std::future::ready(()))
    }
}

struct TokioListener {
    listener: TcpListener,
    port: u16,
}

impl Listener for TokioListener {
    fn accept(&mut self) -> Pin<Box<dyn Future<Output = io::Result<BoxIo>> + Send + '_>> {
        Box::pin(async move {
            loop {
                match self.listener.accept().await {
                    Ok((stream, _)) if stream.set_nodelay(true).is_ok() => {
                        return Ok(Box::new(stream) as BoxIo);
                    }
                    Ok(_) => {}
                    // One connection's failure, or no descriptor left: neither ends the listener.
                    Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                }
            }
        })
    }

    fn port(&self) -> u16 {
        self.port
    }
}
