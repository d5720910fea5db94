//! What a run costs whoever uses the system, and what many runs do.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    history::{Event, History},
    run::Outcome,
    sim::{actors::redis, cast::DATABASE},
};

/// What one run cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// From the first request or delivery to the first definite answer, in simulated milliseconds; none if there is none.
    pub answer_ms: Option<u64>,
    /// From there to the first effect, in simulated milliseconds; none if there is none.
    pub effect_ms: Option<u64>,
    /// Whether everything that was asked for was done, and nothing is unknown in the end.
    pub done: bool,
    /// Requests to the stores.
    pub store_requests: u32,
    /// Records and dead letters in the end.
    pub rows: u32,
}

impl Price {
    /// Of a run.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        let history = &outcome.history;
        let begun = first(history, |event| matches!(event, Event::Request { .. } | Event::Delivery { .. }));
        let since = |at: Option<u64>| Some(at?.saturating_sub(begun?));
        let stores = |host: &String| [DATABASE, redis::HOST].contains(&host.as_str());
        Self {
            answer_ms: since(first(history, is_definite)),
            effect_ms: since(first(history, |event| matches!(event, Event::Effect { .. }))),
            done: is_done(outcome),
            store_requests: outcome
                .messages
                .iter()
                .filter(|((_, to), _)| stores(to))
                .map(|(_, count)| count)
                .sum(),
            rows: history.entries.iter().filter(|entry| is_row(&entry.event)).count() as u32,
        }
    }
}

fn first(history: &History, is_it: impl Fn(&Event) -> bool) -> Option<u64> {
    history.entries.iter().find(|entry| is_it(&entry.event)).map(|entry| entry.at_ms)
}

/// Whoever hears it need not come back: neither "not now" nor "nobody knows".
fn is_definite(event: &Event) -> bool {
    match event {
        Event::Response { status, .. } | Event::DeliveryAnswer { status, .. } => {
            *status < 500 && *status != 409
        }
        _ => false,
    }
}

fn is_row(event: &Event) -> bool {
    matches!(event, Event::Record { .. } | Event::DeadLetter { .. })
}

fn is_done(outcome: &Outcome) -> bool {
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    for entry in &outcome.history.entries {
        match &entry.event {
            Event::Request { op, .. } => _ = asked.insert(op),
            Event::Delivery { ops, .. } => asked.extend(ops.iter().map(String::as_str)),
            _ => {}
        }
    }
    let acted = &outcome.verdict.effects;
    outcome.verdict.unknown.is_empty() && asked.into_iter().all(|op| acted.contains_key(op))
}

/// What many runs cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Prices {
    /// Runs in which something was not done, or is unknown in the end.
    pub not_done: usize,
    /// Runs in which nobody gets a definite answer.
    pub unanswered: usize,
    /// The median time to the first definite answer, where there is one, in simulated milliseconds.
    pub answer_ms: i64,
    /// The median time to the first effect, where there is one, in simulated milliseconds.
    pub effect_ms: i64,
    /// Requests to the stores, in all runs together.
    pub store_requests: u64,
    /// Records and dead letters in the end, in all runs together.
    pub rows: u64,
}

impl Prices {
    /// Of these runs.
    pub fn of<'a>(prices: impl Iterator<Item = &'a Price> + Clone) -> Self {
        Self {
            not_done: prices.clone().filter(|price| !price.done).count(),
            unanswered: prices.clone().filter(|price| price.answer_ms.is_none()).count(),
            answer_ms: median(prices.clone().filter_map(|price| Some(price.answer_ms? as i64))),
            effect_ms: median(prices.clone().filter_map(|price| Some(price.effect_ms? as i64))),
            store_requests: prices.clone().map(|price| u64::from(price.store_requests)).sum(),
            rows: prices.map(|price| u64::from(price.rows)).sum(),
        }
    }
}

/// What a decision changes in the price of the same runs; more is dearer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Runs in which something was not done, or is unknown in the end.
    pub not_done: i64,
    /// Runs in which nobody gets a definite answer.
    pub unanswered: i64,
    /// The median of how much later the first definite answer comes, where there is one in both, in simulated milliseconds.
    pub answer_ms: i64,
    /// The median of how much later the first effect comes, where there is one in both, in simulated milliseconds.
    pub effect_ms: i64,
    /// Requests to the stores, in all runs together.
    pub store_requests: i64,
    /// Records and dead letters in the end, in all runs together.
    pub rows: i64,
}

impl Change {
    /// From the first of each pair to the second.
    pub fn of<'a>(pairs: impl Iterator<Item = (&'a Price, &'a Price)> + Clone) -> Self {
        let sum = |of: fn(&Price) -> i64| pairs.clone().map(|(from, to)| of(to) - of(from)).sum();
        let later = |of: fn(&Price) -> Option<u64>| {
            median(pairs.clone().filter_map(|(from, to)| Some(of(to)? as i64 - of(from)? as i64)))
        };
        Self {
            not_done: sum(|price| i64::from(!price.done)),
            unanswered: sum(|price| i64::from(price.answer_ms.is_none())),
            answer_ms: later(|price| price.answer_ms),
            effect_ms: later(|price| price.effect_ms),
            store_requests: sum(|price| price.store_requests.into()),
            rows: sum(|price| price.rows.into()),
        }
    }
}

/// The lower of the two in the middle, and 0 of none.
fn median(values: impl Iterator<Item = i64>) -> i64 {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done() -> Price {
        Price { answer_ms: Some(7), effect_ms: Some(3), done: true, store_requests: 4, rows: 1 }
    }

    #[test]
    fn a_median_is_a_value_that_occurred() {
        assert_eq!(median([9, 1, 5].into_iter()), 5);
        assert_eq!(median([9, 1].into_iter()), 1);
        assert_eq!(median(std::iter::empty()), 0);
    }

    #[test]
    fn prices_count_what_is_missing_and_leave_it_out_of_the_medians() {
        let prices = Prices::of([Price::default(), done()].iter());
        let expected =
            Prices { not_done: 1, unanswered: 1, answer_ms: 7, effect_ms: 3, store_requests: 4, rows: 1 };
        assert_eq!(prices, expected);
    }

    #[test]
    fn a_change_compares_each_run_with_itself() {
        let slower = Price { answer_ms: Some(9), rows: 3, ..done() };
        let (nothing, done) = (Price::default(), done());
        let change = Change::of([(&done, &slower), (&done, &nothing)].into_iter());
        let expected =
            Change { not_done: 1, unanswered: 1, answer_ms: 2, effect_ms: 0, store_requests: -4, rows: 1 };
        assert_eq!(change, expected);
    }
}
