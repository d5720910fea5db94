//! Takes orders, queues them, and has them worked on.

use std::sync::Arc;

use tokio::sync::{Notify, Semaphore, mpsc};

use super::{
    Book, BookError, Keys, Line, Order, OrderError, OrderState, Persisted, Place, ProducerPolicy, Taken,
    deterministic_key,
    errand::{Errand, Job},
    points,
};
use crate::{hex::random_id, world::SharedWorld};

/// So many orders are at the gateways at a time; the others wait for their turn.
const AT_ONCE: usize = 64;

/// Why an order was not taken. Whoever places it places it again, under the same id.
#[derive(Debug, thiserror::Error)]
pub enum ProducerError {
    /// It cannot be done.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// It could not be written down.
    #[error(transparent)]
    Book(#[from] BookError),
    /// Another order was taken under its id.
    #[error("another order was taken under the id {0:?}")]
    Other(String),
}

/// A producer of one host. Its queue and its workers die with the process; its book does not.
pub struct Producer {
    pub(super) world: SharedWorld,
    pub(super) policy: ProducerPolicy,
    pub(super) book: Arc<dyn Book>,
    pub(super) line: Arc<dyn Line>,
    queue: mpsc::UnboundedSender<Job>,
    /// Free places at the gateways.
    pub(super) places: Semaphore,
    /// Rung when an order is closed.
    pub(super) closed: Notify,
}

impl Producer {
    /// Starts a producer: what its book has open is queued first, so that a restart goes on where the last life ended.
    ///
    /// # Errors
    /// Where the book cannot be read.
    pub async fn start(
        world: SharedWorld,
        policy: ProducerPolicy,
        book: Arc<dyn Book>,
        line: Arc<dyn Line>,
    ) -> Result<Arc<Self>, BookError> {
        // Unbounded, since a job is an id: all else is in the book.
        let (queue, waiting) = mpsc::unbounded_channel();
        for id in book.open().await? {
            let _ = queue.send(Job::read_from_book(id));
        }
        let (places, closed) = (Semaphore::new(AT_ONCE), Notify::new());
        let this = Arc::new(Self { world, policy, book, line, queue, places, closed });
        this.world.spawn(Box::pin(Arc::clone(&this).work(waiting)));
        Ok(this)
    }

    /// Takes an order: its keys are made and written down with it, then its job is queued. Once this returns, the order is
    /// the producer's own, whatever dies.
    ///
    /// # Errors
    /// [`ProducerError`]; then it was not taken.
    pub async fn accept(&self, order: Order) -> Result<Taken, ProducerError> {
        let (taken, job) = self.take(order).await?;
        if let Some(job) = job {
            let _ = self.queue.send(job);
        }
        self.world.reach(points::AFTER_ENQUEUE).await;
        Ok(taken)
    }

    /// As [`Producer::accept`], and the first attempt is the caller's, past the queue.
    ///
    /// # Errors
    /// As [`Producer::accept`].
    pub async fn accept_and_send(self: &Arc<Self>, order: Order) -> Result<Taken, ProducerError> {
        let (taken, job) = self.take(order).await?;
        if let Some(job) = job {
            let errand = Errand::new(Arc::clone(self), Job { is_at_once: true, ..job });
            self.world.spawn(Box::pin(errand.run()));
        }
        Ok(taken)
    }

    /// Where an order stands once nothing more is done about it by itself; at once, where it was never taken.
    ///
    /// # Errors
    /// Where the book cannot be read.
    pub async fn closed(&self, id: &str) -> Result<Option<OrderState>, BookError> {
        loop {
            let rung = self.closed.notified();
            let state = self.book.entry(id).await?.map(|entry| entry.state);
            if state != Some(OrderState::Open) {
                return Ok(state);
            }
            rung.await;
        }
    }

    /// The job of an order that was new.
    async fn take(&self, order: Order) -> Result<(Taken, Option<Job>), ProducerError> {
        order.check()?;
        let keys = self.keys(&order)?;
        self.world.reach(points::BEFORE_PERSIST).await;
        let id = order.id.clone();
        let (written, in_memory) = match self.policy.persisted {
            Persisted::BeforeQueueing => (keys, Vec::new()),
            Persisted::Never => (vec![None; keys.len()], keys),
        };
        let taken = self.book.take(order, written).await?;
        self.world.reach(points::AFTER_PERSIST).await;
        match taken {
            Taken::New => Ok((taken, Some(Job { id, keys: in_memory, is_at_once: false }))),
            // It is queued, or was, or will be at the next start.
            Taken::Known => Ok((taken, None)),
            Taken::Other => Err(ProducerError::Other(id)),
        }
    }

    fn keys(&self, order: &Order) -> Result<Vec<Option<String>>, OrderError> {
        (0..order.steps.len()).map(|step| self.make_key(order, step, Place::Caller).map(Some)).collect()
    }

    /// A key for a step, as it is made where there is none yet.
    pub(super) fn make_key(&self, order: &Order, step: usize, place: Place) -> Result<String, OrderError> {
        match &order.keys {
            Keys::Random => Ok(random_id(&*self.world)),
            Keys::Deterministic(domain) => {
                deterministic_key(&self.policy, domain, step, place, self.world.clock_ms())
            }
        }
    }

    async fn work(self: Arc<Self>, mut waiting: mpsc::UnboundedReceiver<Job>) {
        while let Some(job) = waiting.recv().await {
            let errand = Errand::new(Arc::clone(&self), job);
            self.world.spawn(Box::pin(errand.run()));
        }
    }
}
