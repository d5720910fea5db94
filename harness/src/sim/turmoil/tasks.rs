//! All tasks of one incarnation of a host, run as one future.
//!
//! tokio orders a dying runtime's tasks by ids that it counts over the whole process, so that the second run of
//! a seed would die in another order than the first. Tasks that are our own die in an order that is ours too.

use std::{
    convert::Infallible,
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use futures::{StreamExt, stream::FuturesUnordered};
use onceproof_gateway::world::BoxFuture;

/// The tasks of one incarnation, and whether they did anything lately.
#[derive(Default)]
pub struct Tasks {
    nursery: Mutex<Nursery>,
    active: AtomicBool,
}

/// Where tasks wait for their first poll.
#[derive(Default)]
struct Nursery {
    closed: bool,
    newborn: Vec<BoxFuture<()>>,
    waker: Option<Waker>,
}

impl Tasks {
    /// Adds a task. A dead incarnation takes none.
    pub fn spawn(&self, task: BoxFuture<()>) {
        let mut nursery = self.lock();
        if nursery.closed {
            return;
        }
        nursery.newborn.push(task);
        if let Some(waker) = nursery.waker.take() {
            waker.wake();
        }
    }

    /// The incarnation is dead, or about to die.
    pub fn close(&self) {
        self.lock().closed = true;
    }

    /// Whether the incarnation is dead.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Whether any task was polled since this was asked last.
    pub fn were_active(&self) -> bool {
        self.active.swap(false, Ordering::Relaxed)
    }

    /// Runs every task for as long as the host lives: its kernel answers even when its programs have ended.
    pub async fn run(self: Arc<Self>) -> Infallible {
        let mut running = FuturesUnordered::new();
        poll_fn(|context| self.poll_all(&mut running, context)).await
    }

    fn poll_all(
        &self,
        running: &mut FuturesUnordered<BoxFuture<()>>,
        context: &mut Context<'_>,
    ) -> Poll<Infallible> {
        self.active.store(true, Ordering::Relaxed);
        loop {
            self.adopt(running, context);
            if let Poll::Ready(Some(())) = running.poll_next_unpin(context) {
                continue;
            }
            if self.lock().newborn.is_empty() {
                return Poll::Pending;
            }
        }
    }

    fn adopt(&self, running: &mut FuturesUnordered<BoxFuture<()>>, context: &Context<'_>) {
        let mut nursery = self.lock();
        running.extend(nursery.newborn.drain(..));
        nursery.waker = Some(context.waker().clone());
    }

    fn lock(&self) -> MutexGuard<'_, Nursery> {
        self.nursery.lock().expect("nothing panics in the nursery")
    }
}
