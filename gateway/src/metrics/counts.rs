//! What is counted while a gateway runs.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use prometheus::{
    HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Registry,
    core::Collector,
    proto::{MetricFamily, MetricType},
};

use super::{
    names::{self, Named},
    recent::Recent,
    sent_log::SentLog,
};
use crate::{signals::Vitals, store::Queue};

/// From what a duplicate costs to what a caller waits at most, in seconds.
const LATENCIES: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0];

/// Attempts beyond the last are one class.
const ATTEMPTS: [f64; 7] = [1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0];

/// Who asks for a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// A producer, over HTTP.
    Producer,
    /// A worker of this gateway, for an event.
    Worker,
}

/// Why a send is unprotected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unprotected {
    /// The caller gave no key (S3).
    NoKey,
    /// The store could not be reached, and the policy sends all the same (S7).
    StoreDown,
}

/// What is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retried {
    /// A row of a queue.
    Row(Queue),
    /// A question to the provider about an unknown message.
    Ask,
}

/// The metrics of one gateway; clones are the same ones.
#[derive(Clone)]
pub struct Metrics {
    counts: Arc<Counts>,
}

struct Counts {
    latency: HistogramVec,
    sends: IntCounterVec,
    replays: IntCounterVec,
    unprotected: IntCounterVec,
    escaped: IntCounter,
    items: IntCounter,
    duplicates: IntCounter,
    retries: IntCounterVec,
    failures: IntCounterVec,
    attempts: HistogramVec,
    memory: Mutex<Memory>,
}

/// What no counter can hold.
#[derive(Default)]
struct Memory {
    recent: Recent,
    sent: SentLog,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Nothing counted yet.
    #[must_use]
    pub fn new() -> Self {
        let counts = Counts {
            latency: histogram(names::LATENCY, &["route", "status"], &LATENCIES),
            sends: counter(names::SENDS, &["asker"]),
            replays: counter(names::REPLAYS, &["asker"]),
            unprotected: counter(names::UNPROTECTED, &["why"]),
            escaped: single(names::ESCAPED),
            items: single(names::ITEMS),
            duplicates: single(names::DUPLICATES),
            retries: counter(names::RETRIES, &["what"]),
            failures: counter(names::FAILURES, &["queue"]),
            attempts: histogram(names::ATTEMPTS, &["queue"], &ATTEMPTS),
            memory: Mutex::default(),
        };
        Self { counts: Arc::new(counts) }
    }

    /// Everything counted by this process, each metric summed over its labels; what is still 0 is left out. The names are
    /// among [`SUMMED`](super::SUMMED).
    #[must_use]
    pub fn totals(&self) -> BTreeMap<String, u64> {
        let families = self.collectors().into_iter().flat_map(|collector| collector.collect());
        families.flat_map(|family| summed(&family)).filter(|(_, total)| *total > 0).collect()
    }

    /// A request was answered.
    pub(crate) fn answered(&self, route: &str, status: &str, took: Duration) {
        self.counts.latency.with_label_values(&[route, status]).observe(took.as_secs_f64());
    }

    /// A send was answered, at this time since boot.
    pub(crate) fn sent(&self, asker: Asker, is_replay: bool, now: Duration) {
        self.counts.sends.with_label_values(&[asker.word()]).inc();
        if is_replay {
            self.counts.replays.with_label_values(&[asker.word()]).inc();
        }
        // A worker's repetitions say nothing of producers.
        if asker == Asker::Producer {
            self.memory().recent.now(now).requested(is_replay);
        }
    }

    /// A request without the protection of a key was handed to the provider.
    pub(crate) fn unprotected(&self, why: Unprotected) {
        self.counts.unprotected.with_label_values(&[why.word()]).inc();
    }

    /// A message with this content went out, at this time since boot.
    pub(crate) fn went_out(&self, content: u128, message_id: &str, now: Duration) {
        let mut memory = self.memory();
        if memory.sent.is_duplicate(content, message_id, now) {
            self.counts.escaped.inc();
            memory.recent.now(now).escaped();
        }
    }

    /// A delivery is durably owned.
    pub(crate) fn received(&self, new: u32, known: u32, dead: u32) {
        self.counts.items.inc_by(u64::from(new) + u64::from(known) + u64::from(dead));
        self.counts.duplicates.inc_by(known.into());
        self.buried(Queue::Job, dead);
    }

    /// Something is tried again.
    pub(crate) fn retried(&self, what: Retried) {
        self.counts.retries.with_label_values(&[what.word()]).inc();
    }

    /// Rows became dead letters.
    pub(crate) fn buried(&self, queue: Queue, rows: u32) {
        self.counts.failures.with_label_values(&[queue.word()]).inc_by(rows.into());
    }

    /// A row is done, at this time since boot.
    pub(crate) fn completed(&self, queue: Queue, attempt: u32, now: Duration) {
        self.counts.attempts.with_label_values(&[queue.word()]).observe(attempt.into());
        self.memory().recent.now(now).completed(queue, attempt);
    }

    /// What the last hour was like, but for what only the store knows.
    pub(crate) fn vitals(&self, now: Duration) -> Vitals {
        self.memory().recent.vitals(now)
    }

    /// A registry of all of them, in which every label that there is has a value: what did not happen is 0, not absent.
    pub(super) fn registry(&self) -> Registry {
        let counts = &self.counts;
        for asker in [Asker::Producer, Asker::Worker] {
            counts.sends.with_label_values(&[asker.word()]);
            counts.replays.with_label_values(&[asker.word()]);
        }
        for why in [Unprotected::NoKey, Unprotected::StoreDown] {
            counts.unprotected.with_label_values(&[why.word()]);
        }
        for queue in [Queue::Job, Queue::Outbox] {
            counts.failures.with_label_values(&[queue.word()]);
            counts.attempts.with_label_values(&[queue.word()]);
            counts.retries.with_label_values(&[Retried::Row(queue).word()]);
        }
        counts.retries.with_label_values(&[Retried::Ask.word()]);
        let registry = Registry::new();
        for collector in self.collectors() {
            registry.register(collector).expect(WELL_NAMED);
        }
        registry
    }

    fn collectors(&self) -> [Box<dyn Collector>; 10] {
        let counts = &*self.counts;
        [
            Box::new(counts.latency.clone()),
            Box::new(counts.sends.clone()),
            Box::new(counts.replays.clone()),
            Box::new(counts.unprotected.clone()),
            Box::new(counts.escaped.clone()),
            Box::new(counts.items.clone()),
            Box::new(counts.duplicates.clone()),
            Box::new(counts.retries.clone()),
            Box::new(counts.failures.clone()),
            Box::new(counts.attempts.clone()),
        ]
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // Whoever panicked here left counts that are at worst one behind.
        self.counts.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asker {
    fn word(self) -> &'static str {
        match self {
            Self::Producer => "producer",
            Self::Worker => "worker",
        }
    }
}

impl Unprotected {
    fn word(self) -> &'static str {
        match self {
            Self::NoKey => "no-key",
            Self::StoreDown => "store-down",
        }
    }
}

impl Retried {
    fn word(self) -> &'static str {
        match self {
            Self::Row(queue) => queue.word(),
            Self::Ask => "ask",
        }
    }
}

/// Names and labels are constants of this crate, and a test makes every metric.
pub(super) const WELL_NAMED: &str = "a metric of this crate is well named";

fn single(named: Named) -> IntCounter {
    IntCounter::with_opts(named.opts()).expect(WELL_NAMED)
}

fn counter(named: Named, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(named.opts(), labels).expect(WELL_NAMED)
}

fn histogram(named: Named, labels: &[&str], buckets: &[f64]) -> HistogramVec {
    let opts = HistogramOpts::from(named.opts()).buckets(buckets.to_vec());
    HistogramVec::new(opts, labels).expect(WELL_NAMED)
}

/// What a family comes to over all its labels.
fn summed(family: &MetricFamily) -> Vec<(String, u64)> {
    let name = family.name();
    let metrics = family.get_metric();
    let totals = match family.get_field_type() {
        MetricType::HISTOGRAM => {
            let histograms = || metrics.iter().map(|metric| metric.get_histogram());
            let count: u64 = histograms().map(|histogram| histogram.get_sample_count()).sum();
            let sum: f64 = histograms().map(|histogram| histogram.get_sample_sum()).sum();
            vec![(format!("{name}_count"), count), (format!("{name}_sum"), whole(sum))]
        }
        _ => {
            let sum: f64 = metrics.iter().map(|metric| metric.get_counter().get_value()).sum();
            vec![(name.to_owned(), whole(sum))]
        }
    };
    totals.into_iter().filter(|(name, _)| names::SUMMED.contains(&name.as_str())).collect()
}

/// Counters hold whole numbers as floating ones.
fn whole(number: f64) -> u64 {
    number.round() as u64
}
