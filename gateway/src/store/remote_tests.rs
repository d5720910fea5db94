//! The remote store's error classes, over a wire that the test holds in its hands.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{io::DuplexStream, time::Instant};

use super::{Answer, Command, EmbeddedStore, RemoteStore, Reply, Slot, SqliteStore, Store, StoreError, wire};
use crate::world::{BoxFuture, BoxIo, Listener, World};

/// What the next connection is: the near end of a pipe, refused, or hanging.
enum Next {
    Pipe(DuplexStream),
    Refused,
    Hangs,
}

#[derive(Default)]
struct Wires {
    next: Mutex<VecDeque<Next>>,
}

impl Wires {
    /// Queues a connection and gives its far end.
    fn pipe(&self) -> DuplexStream {
        let (near, far) = tokio::io::duplex(1 << 16);
        self.push(Next::Pipe(near));
        far
    }

    fn push(&self, next: Next) {
        self.next.lock().unwrap().push_back(next);
    }

    /// Queues a connection that a real store answers.
    fn served(&self) {
        let mut far = self.pipe();
        tokio::spawn(async move {
            let sqlite = Arc::new(Mutex::new(SqliteStore::in_memory().unwrap()));
            let store = EmbeddedStore::new(sqlite);
            wire::serve_connection(&mut far, &store).await
        });
    }
}

impl World for Wires {
    fn clock_ms(&self) -> i64 {
        0
    }

    fn since_boot(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<()>) {
        drop(tokio::spawn(task));
    }

    fn connect(&self, _host: &str, _port: u16) -> BoxFuture<io::Result<BoxIo>> {
        let next = self.next.lock().unwrap().pop_front();
        Box::pin(async move {
            match next {
                Some(Next::Pipe(near)) => Ok(Box::new(near) as BoxIo),
                Some(Next::Hangs) => std::future::pending().await,
                Some(Next::Refused) | None => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        })
    }

    fn listen(&self, _port: u16) -> BoxFuture<io::Result<Box<dyn Listener>>> {
        Box::pin(async { Err(io::ErrorKind::Unsupported.into()) })
    }

    fn fill_random(&self, _bytes: &mut [u8]) {}

    fn reach(&self, _point: &'static str) -> BoxFuture<()> {
        Box::pin(std::future::ready(()))
    }
}

fn house() -> (Arc<Wires>, RemoteStore) {
    let wires = Arc::new(Wires::default());
    let store = RemoteStore::new(wires.clone(), "database", 5432, Duration::from_secs(2));
    (wires, store)
}

fn read() -> Command {
    Command::Read {
        slot: Slot { scope: "s".into(), key: "k".into() },
        now_ms: 0,
        skew_ms: 0,
        tombstone_ms: 0,
    }
}

fn is_ambiguous(result: &Result<Answer, StoreError>) -> bool {
    matches!(result, Err(StoreError::Ambiguous(_)))
}

fn is_unreached(result: &Result<Answer, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unreached(_)))
}

#[tokio::test(start_paused = true)]
async fn one_connection_serves_command_after_command() {
    let (wires, store) = house();
    wires.served();
    for _ in 0..3 {
        assert_eq!(store.execute(read()).await.unwrap().reply, Reply::Absent);
    }
}

#[tokio::test(start_paused = true)]
async fn what_never_left_was_never_reached() {
    let (wires, store) = house();
    wires.push(Next::Refused);
    assert!(is_unreached(&store.execute(read()).await));
    wires.push(Next::Hangs);
    let start = Instant::now();
    assert!(is_unreached(&store.execute(read()).await));
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    drop(wires.pipe());
    assert!(is_unreached(&store.execute(read()).await));
}

#[tokio::test(start_paused = true)]
async fn what_may_have_left_is_ambiguous_and_its_connection_is_never_used_again() {
    let (wires, store) = house();
    let mut far = wires.pipe();
    let result = store.execute(read()).await;
    assert!(is_ambiguous(&result), "{result:?}");
    // The late answer finds nobody; the next command has a connection of its own.
    let _: Option<Command> = wire::read_frame(&mut far).await.unwrap();
    assert!(wire::read_frame::<Command>(&mut far).await.unwrap().is_none());
    wires.served();
    assert!(store.execute(read()).await.is_ok());

    let (wires, store) = house();
    let mut far = wires.pipe();
    let hang_up = async move {
        let _: Option<Command> = wire::read_frame(&mut far).await.unwrap();
    };
    let (result, ()) = tokio::join!(store.execute(read()), hang_up);
    assert!(is_ambiguous(&result));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_store_closed_while_idle_costs_nothing() {
    let (wires, store) = house();
    let mut far = wires.pipe();
    let serve_once = async move {
        let _: Option<Command> = wire::read_frame(&mut far).await.unwrap();
        let absent: wire::Outcome =
            Ok(Answer { reply: Reply::Absent, next_due_ms: None, next_work_ms: None });
        wire::write_frame(&mut far, &absent).await.unwrap();
    };
    let (result, ()) = tokio::join!(store.execute(read()), serve_once);
    assert!(result.is_ok());
    wires.served();
    assert!(store.execute(read()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_stuck_command_holds_up_no_other() {
    let (wires, store) = house();
    let _far = wires.pipe();
    wires.served();
    let start = Instant::now();
    let stuck = store.execute(read());
    let quick = async {
        let result = store.execute(read()).await;
        (result, start.elapsed())
    };
    let (stuck, (quick, took)) = tokio::join!(stuck, quick);
    assert!(is_ambiguous(&stuck));
    assert!(quick.is_ok());
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_frame_over_the_limit_is_an_error_and_allocates_nothing() {
    let (wires, store) = house();
    let mut far = wires.pipe();
    let lie = async move {
        let _: Option<Command> = wire::read_frame(&mut far).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut far, &u32::MAX.to_be_bytes()).await.unwrap();
        far
    };
    let (result, _far) = tokio::join!(store.execute(read()), lie);
    assert!(is_ambiguous(&result));
}
