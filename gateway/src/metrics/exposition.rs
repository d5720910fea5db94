//! The text that a Prometheus reads.

use prometheus::{Encoder, IntGauge, IntGaugeVec, Registry, TextEncoder};

use super::{Metrics, counts::WELL_NAMED, names};
use crate::store::{Census, Rows};

/// What the text is, for its `Content-Type`.
pub(crate) const TEXT_FORMAT: &str = prometheus::TEXT_FORMAT;

impl Metrics {
    /// Every metric, in the order of names and labels, with what the store said, if it did.
    pub(crate) fn exposition(&self, census: Option<&Census>) -> Vec<u8> {
        let registry = self.registry();
        gauge(&registry, names::STORE_UP, census.is_some().into());
        if let Some(census) = census {
            gauge(&registry, names::UNKNOWN, census.unknown.into());
            queues(&registry, census);
        }
        let mut text = Vec::new();
        TextEncoder::new().encode(&registry.gather(), &mut text).expect("text can be written to memory");
        text
    }
}

impl Census {
    /// As [`Metrics::totals`]: each summed over its labels, what is 0 left out.
    #[must_use]
    pub fn totals(&self) -> std::collections::BTreeMap<String, u64> {
        let sum = |of: fn(&Rows) -> u32| u64::from(of(&self.jobs)) + u64::from(of(&self.outbox));
        let depth = sum(|rows| rows.ready) + sum(|rows| rows.leased) + sum(|rows| rows.parked);
        let totals = [
            (names::DEPTH, depth),
            (names::LETTERS, sum(|rows| rows.dead)),
            (names::UNKNOWN, self.unknown.into()),
        ];
        let counted = totals.into_iter().filter(|(_, total)| *total > 0);
        counted.map(|(named, total)| (named.0.to_owned(), total)).collect()
    }
}

fn gauge(registry: &Registry, named: names::Named, value: i64) {
    let gauge = IntGauge::with_opts(named.opts()).expect(WELL_NAMED);
    gauge.set(value);
    registry.register(Box::new(gauge)).expect(WELL_NAMED);
}

fn queues(registry: &Registry, census: &Census) {
    let depth = IntGaugeVec::new(names::DEPTH.opts(), &["queue", "state"]).expect(WELL_NAMED);
    let letters = IntGaugeVec::new(names::LETTERS.opts(), &["queue"]).expect(WELL_NAMED);
    for (queue, rows) in [("job", census.jobs), ("outbox", census.outbox)] {
        for (state, count) in [("ready", rows.ready), ("leased", rows.leased), ("parked", rows.parked)] {
            depth.with_label_values(&[queue, state]).set(count.into());
        }
        letters.with_label_values(&[queue]).set(rows.dead.into());
    }
    registry.register(Box::new(depth)).expect(WELL_NAMED);
    registry.register(Box::new(letters)).expect(WELL_NAMED);
}
