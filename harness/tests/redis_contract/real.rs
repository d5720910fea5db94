//! A real Redis of our own, on a free port of the loopback address, which ends with the test.

use std::{
    future::Future,
    io::ErrorKind,
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use onceproof_gateway::real::TokioWorld;

use crate::client::{Checked, Place};

const MISSING: &str = "there is no redis-server on this machine: run scripts/test, which installs it with apt-get, \
                       or install Redis by hand";

/// A server process.
pub struct Server {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    pub fn start() -> Self {
        // Somebody may take the port before the server does.
        (0..5).find_map(|_| Self::try_start()).expect("a redis-server starts on one of five free ports")
    }

    fn try_start() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.expect("a free port").port();
        let started = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .arg("--dir")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        let child = match started {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => panic!("{MISSING}"),
            Err(error) => panic!("redis-server does not start: {error}"),
        };
        let mut server = Self { child, port, _folder: folder };
        server.listens().then_some(server)
    }

    /// Waits until it listens, unless it ends before.
    fn listens(&mut self) -> bool {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return false;
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return true;
            }
            sleep(Duration::from_millis(20));
        }
        false
    }

    pub fn run<T, F: Future<Output = Checked<T>>>(&self, script: impl FnOnce(Place) -> F) -> Checked<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let place = Place { world: TokioWorld::shared(), host: "127.0.0.1".into(), port: self.port };
        runtime.block_on(script(place))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
