//! A producer's book, and the stage that hears what is written in it.

use std::sync::Arc;

use onceproof_gateway::{
    producer::{Book, BookError, Entry, Noted, Order, SqliteBook, Taken},
    world::{BoxFuture, SharedWorld},
};

use crate::{history::Event, plan::Scenario, sim::stage::Stage};

/// The book of one host, as one incarnation of it has it.
pub struct WatchedBook {
    /// What is written, which outlives the host.
    pub book: SqliteBook,
    /// The host.
    pub host: &'static str,
    /// Its world.
    pub world: SharedWorld,
    /// Who hears of it.
    pub stage: Arc<Stage>,
    /// What the orders are.
    pub scenario: Arc<Scenario>,
}

impl WatchedBook {
    fn recorder(&self) -> impl Fn(Event) + Send + 'static {
        let (world, stage, host) = (Arc::clone(&self.world), Arc::clone(&self.stage), self.host);
        move |event| stage.record(world.since_boot().as_millis() as u64, host, event)
    }
}

impl Book for WatchedBook {
    fn take(&self, order: Order, keys: Vec<Option<String>>) -> BoxFuture<Result<Taken, BookError>> {
        let (record, op) = (self.recorder(), order.id.clone());
        let planned = self.scenario.first_order(&op);
        let ops: Vec<String> = planned.into_iter().flat_map(|(order, _)| order.ops()).cloned().collect();
        let written = self.book.take(order, keys);
        Box::pin(async move {
            let taken = written.await?;
            if taken != Taken::Other {
                record(Event::Ordered { op, ops, known: taken == Taken::Known });
            }
            Ok(taken)
        })
    }

    fn open(&self) -> BoxFuture<Result<Vec<String>, BookError>> {
        self.book.open()
    }

    fn entry(&self, id: &str) -> BoxFuture<Result<Option<Entry>, BookError>> {
        self.book.entry(id)
    }

    fn note(&self, id: &str, what: Noted) -> BoxFuture<Result<(), BookError>> {
        let record = self.recorder();
        let given_up = matches!(what, Noted::GivenUp { .. }).then(|| id.to_owned());
        let written = self.book.note(id, what);
        Box::pin(async move {
            written.await?;
            if let Some(op) = given_up {
                record(Event::GaveUp { op });
            }
            Ok(())
        })
    }
}
