//! A producer that orders are placed with. Its book outlives its host, and so do those who place the orders.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use onceproof_gateway::{
    producer::{Address, BookError, Entry, HttpLine, Producer, ProducerPolicy, SqliteBook, Tokens},
    world::{SharedWorld, within},
};

use super::{
    book::WatchedBook,
    line::WatchedLine,
    orders::{order, step_op},
    tenants::{ACCOUNT_TOKEN, TENANTS},
};
use crate::{
    history::Event,
    plan::Scenario,
    sim::{
        stage::{BOOT_MS, Stage},
        wire::HTTP_PORT,
    },
};

/// The pause before an order that could not be taken is placed again.
const PLACE_AGAIN: Duration = Duration::from_secs(1);

/// What of a producer outlives its process.
pub struct Shop {
    host: &'static str,
    policy: ProducerPolicy,
    stage: Arc<Stage>,
    scenario: Arc<Scenario>,
    book: SqliteBook,
    /// The steps of the plan that are done.
    done: Mutex<BTreeSet<usize>>,
}

impl Shop {
    /// A producer with an empty book.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn new(
        host: &'static str,
        policy: ProducerPolicy,
        stage: Arc<Stage>,
        scenario: Arc<Scenario>,
    ) -> Result<Self, BookError> {
        Ok(Self { host, policy, stage, scenario, book: SqliteBook::in_memory()?, done: Mutex::default() })
    }

    /// One life of the producer: it goes on with what its book has, and is asked again for every order whose step is not
    /// done, since whoever places one repeats it until it is taken.
    pub async fn open(self: Arc<Self>, world: SharedWorld) {
        let (book, line) = (self.watched_book(&world), self.watched_line(&world));
        let started = Producer::start(Arc::clone(&world), self.policy.clone(), book, line).await;
        let producer = started.expect("SQLite reads what it wrote");
        for index in 0..self.scenario.steps.len() {
            let is_asked =
                self.scenario.steps[index].order.as_ref().is_some_and(|it| it.producer == self.host);
            if is_asked && !self.is_done(index) {
                let (this, its_world) = (Arc::clone(&self), Arc::clone(&world));
                let producer = Arc::clone(&producer);
                world.spawn(Box::pin(async move { this.step(index, &producer, its_world).await }));
            }
        }
    }

    async fn step(&self, index: usize, producer: &Arc<Producer>, world: SharedWorld) {
        let step = &self.scenario.steps[index];
        let at = Duration::from_millis(BOOT_MS + step.at.ms());
        world.sleep(at.saturating_sub(world.since_boot())).await;
        let Some(asked) = &step.order else { return };
        let order =
            order(&self.scenario, &asked.op).expect("an order is the first of its operation, or has one");
        loop {
            let taken = match asked.at_once {
                true => producer.accept_and_send(order.clone()).await,
                false => producer.accept(order.clone()).await,
            };
            if taken.is_ok() {
                break;
            }
            world.sleep(PLACE_AGAIN).await;
        }
        // A producer that has lost an order never closes it, and the run has to end all the same.
        let closed = within(&*world, self.patience(), producer.closed(&order.id)).await;
        closed.transpose().expect("SQLite reads what it wrote");
        if self.done.lock().expect(UNPOISONED).insert(index) {
            self.stage.step_done();
        }
    }

    /// How long an order can be in hand at the most, but for a longer wait that a gateway asks for.
    fn patience(&self) -> Duration {
        let ProducerPolicy { timeout, retry, again_after, .. } = &self.policy;
        // Every attempt may time out, and so may the question after the last.
        let round = *timeout * (retry.len() as u32 + 2) + retry.iter().sum::<Duration>();
        let rounds = again_after.len() as u32 + 1;
        // Of two steps each may fail as often.
        (round * rounds + again_after.iter().sum::<Duration>()) * 2
    }

    fn is_done(&self, index: usize) -> bool {
        self.done.lock().expect(UNPOISONED).contains(&index)
    }

    /// Every operation that was given up, as it stands at the end.
    pub fn given_up(&self) -> Vec<Event> {
        let entries = self.book.given_up().expect("SQLite reads what it wrote");
        entries.iter().flat_map(|entry| self.dead_letters(entry)).collect()
    }

    fn dead_letters(&self, entry: &Entry) -> Vec<Event> {
        let why = entry.why.clone().unwrap_or_default();
        let left = entry.steps_done..entry.order.steps.len();
        let to_event =
            |step| Event::DeadLetter { op: step_op(&self.scenario, &entry.order.id, step), why: why.clone() };
        left.map(to_event).collect()
    }

    fn watched_book(&self, world: &SharedWorld) -> Arc<WatchedBook> {
        Arc::new(WatchedBook {
            book: self.book.clone(),
            host: self.host,
            world: Arc::clone(world),
            stage: Arc::clone(&self.stage),
            scenario: Arc::clone(&self.scenario),
        })
    }

    fn watched_line(&self, world: &SharedWorld) -> Arc<WatchedLine> {
        let gateways = 1..=self.scenario.world.gateways;
        let line = HttpLine {
            world: Arc::clone(world),
            gateways: gateways
                .map(|number| Address { host: format!("gateway-{number}"), port: HTTP_PORT })
                .collect(),
            tokens: Tokens {
                instances: TENANTS.iter().map(|it| (it.instance.into(), it.token.into())).collect(),
                account: ACCOUNT_TOKEN.into(),
            },
            timeout: self.policy.timeout,
        };
        let (stage, scenario) = (Arc::clone(&self.stage), Arc::clone(&self.scenario));
        Arc::new(WatchedLine { line, host: self.host, stage, scenario })
    }
}

const UNPOISONED: &str = "a panic in a producer ends the run";
