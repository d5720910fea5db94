//! Whether a day costs more than 24 seconds: a retry after the TTL, with all periods in proportion.

use std::time::Duration;

use onceproof::{
    plan::{Plan, Span},
    sim::engine::Cost,
};
use onceproof_gateway::policy::Policy;

use crate::{case, headline, measure::Pairs};

/// A day is so many times as long as 24 s.
const LONGER: u32 = 3600;

/// Liveness is judged ten minutes after the heal, stretched as the short periods are.
const LONG_BOUND_MS: u64 = 10 * 60 * 1000 * LONGER as u64;

/// The pairs, and what either side costs in counts.
pub struct Day {
    pub pairs: Pairs,
    pub day: Cost,
    pub seconds: Cost,
}

/// Measures the pairs.
pub fn day_against_24_seconds(pairs: usize, repeats: usize) -> Day {
    let long = plan();
    let short = shrunk(&long);
    let mut measured = Pairs::default();
    for _ in 0..pairs {
        let mut day = || case::play(&long, LONG_BOUND_MS);
        let mut seconds = || case::play(&short, LONG_BOUND_MS / u64::from(LONGER));
        measured.push(repeats, &mut day, &mut seconds);
    }
    let (day, verdict) = case::play(&long, LONG_BOUND_MS);
    let (seconds, short_verdict) = case::play(&short, LONG_BOUND_MS / u64::from(LONGER));
    assert_eq!(verdict.to_string(), short_verdict.to_string(), "both must be the same story");
    Day { pairs: measured, day, seconds }
}

/// The late retry, late enough that it is late on a short day too, where boot and latency weigh more.
fn plan() -> Plan {
    let mut plan = headline::plan("late-retry-after-ttl", 1);
    plan.scenario.world.policy = stretched();
    plan.scenario.steps[1].at = Span::from_ms(25 * 3_600_000);
    let producer = &mut plan.scenario.world.producer;
    for span in std::iter::once(&mut producer.timeout).chain(&mut producer.retry) {
        *span = Span::from_ms(span.ms() * u64::from(LONGER));
    }
    plan
}

/// `strict`, whose day-long periods are as they are, and whose short ones are as much longer as a day is than 24 s:
/// divided, they are what they are in `strict`, and still longer than the network takes.
fn stretched() -> toml::Table {
    let strict = Policy::profile("strict").expect("strict is built in");
    let periods = [
        ("in_flight_wait", strict.in_flight_wait),
        ("lease", strict.lease),
        ("skew", strict.skew),
        ("provider_timeout", strict.provider_timeout),
        ("send_deadline", strict.send_deadline),
        ("longest_request_age", strict.longest_request_age),
        ("store_timeout", strict.store_timeout),
        ("caller_patience", strict.caller_patience),
    ];
    let longer = |(name, period): (&str, Duration)| {
        let period = format!("{}ms", (period * LONGER).as_millis());
        (name.to_owned(), toml::Value::String(period))
    };
    periods.into_iter().map(longer).collect()
}

fn shrunk(long: &Plan) -> Plan {
    let mut short = long.clone();
    short.scenario.world.shrink_time_by = LONGER;
    short
}
