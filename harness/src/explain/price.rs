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
    /// Runs in which nobody is told of a success.
    pub never_told: usize,
    /// The median time to the first success that is told, where one is, in simulated milliseconds.
    pub answer_ms: u64,
    /// The median time to the first effect, where there is one, in simulated milliseconds.
    pub effect_ms: u64,
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
            never_told: prices.clone().filter(|price| price.answer_ms.is_none()).count(),
            answer_ms: median(prices.clone().filter_map(|price| price.answer_ms)),
            effect_ms: median(prices.clone().filter_map(|price| price.effect_ms)),
            store_requests: prices.clone().map(|price| u64::from(price.store_requests)).sum(),
            rows: prices.map(|price| u64::from(price.rows)).sum(),
        }
    }
}

/// The lower of the two in the middle, and 0 of none.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_a_value_that_occurred() {
        assert_eq!(median([9, 1, 5].into_iter()), 5);
        assert_eq!(median([9, 1].into_iter()), 1);
        assert_eq!(median(std::iter::empty()), 0);
    }

    #[test]
    fn prices_count_what_is_missing_and_leave_it_out_of_the_medians() {
        let done = Price { answer_ms: Some(7), effect_ms: Some(3), done: true, store_requests: 4, rows: 1 };
        let prices = Prices::of([Price::default(), done].iter());
        let expected =
            Prices { not_done: 1, never_told: 1, answer_ms: 7, effect_ms: 3, store_requests: 4, rows: 1 };
        assert_eq!(prices, expected);
    }
}
