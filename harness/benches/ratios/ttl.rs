//! Whether a day costs more than 24 seconds: a retry after the TTL, with all periods in proportion.

use std::time::Duration;

use onceproof::{
    plan::{Plan, Span},
    sim::engine::Cost,
};
use onceproof_gateway::policy::Policy;

use crate::{
    case::{self, Terms},
    headline,
    measure::Pairs,
};

/// A day is so many times as long as 24 s.
const LONGER: u32 = 3600;

/// The pairs, and what either side costs in counts.
pub struct Day {
    pub pairs: Pairs,
    pub day: Cost,
    pub seconds: Cost,
}

/// Measures the pairs.
pub fn day_against_24_seconds(pairs: usize, repeats: usize) -> Day {
    let (long, long_terms) = (plan(), stretched());
    let (short, short_terms) = (shrunk(&long), scaled_down(&long_terms));
    let mut measured = Pairs::default();
    for _ in 0..pairs {
        let mut day = || case::play(&long, &long_terms);
        let mut seconds = || case::play(&short, &short_terms);
        measured.push(repeats, &mut day, &mut seconds);
    }
    let (day, verdict) = case::play(&long, &long_terms);
    let (seconds, short_verdict) = case::play(&short, &short_terms);
    assert_eq!(verdict.to_string(), short_verdict.to_string(), "both must be the same story");
    Day { pairs: measured, day, seconds }
}

/// The late retry, late enough that it is late on a short day too, where boot and latency weigh more.
fn plan() -> Plan {
    let mut plan = headline::plan("late-retry-after-ttl", 1);
    plan.scenario.steps[1].at = Span::from_ms(25 * 3_600_000);
    let producer = &mut plan.scenario.world.producer;
    for span in std::iter::once(&mut producer.timeout).chain(&mut producer.retry) {
        *span = Span::from_ms(span.ms() * u64::from(LONGER));
    }
    plan
}

/// `strict`, whose day-long periods are as they are, and whose short ones are as much longer as a day is than 24 s:
/// divided, they are what they are in `strict`, and still longer than the network takes.
fn stretched() -> Terms {
    let Terms { policy: strict, retention, bound } = Terms::strict();
    let long = |period: Duration| period * LONGER;
    let policy = Policy {
        in_flight_wait: long(strict.in_flight_wait),
        lease: long(strict.lease),
        skew: long(strict.skew),
        provider_timeout: long(strict.provider_timeout),
        send_deadline: long(strict.send_deadline),
        longest_request_age: long(strict.longest_request_age),
        store_timeout: long(strict.store_timeout),
        caller_patience: long(strict.caller_patience),
        ..strict
    };
    Terms { policy, retention, bound: long(bound) }
}

fn shrunk(long: &Plan) -> Plan {
    let mut short = long.clone();
    short.scenario.world.shrink_time_by = LONGER;
    short.scenario = short.scenario.shrunk();
    short
}

fn scaled_down(long: &Terms) -> Terms {
    let policy = long.policy.scaled_down_by(LONGER);
    Terms { policy, retention: long.retention / LONGER, bound: long.bound / LONGER }
}
