//! Whether an item of a large batch costs more than one of a small batch.

use onceproof::plan::Plan;

use crate::{headline, measure::Pairs};

const SMALL: u32 = 100;
const LARGE: u32 = 1000;

/// The pairs: a case with the large batch over one with the small batch.
pub struct Batch {
    pub pairs: Pairs,
    pub small: u32,
    pub large: u32,
}

/// Measures the pairs, on the story of a hundred events in one delivery.
pub fn thousand_against_hundred(pairs: usize) -> Batch {
    let (small, large) = (plan(SMALL), plan(LARGE));
    let mut measured = Pairs::default();
    for _ in 0..pairs {
        measured.push(1, &mut || headline::play(&large), &mut || headline::play(&small));
    }
    Batch { pairs: measured, small: SMALL, large: LARGE }
}

fn plan(items: u32) -> Plan {
    let mut plan = headline::plan("event-batch-of-100", 1);
    let deliver = plan.scenario.steps[0].deliver.as_mut().expect("the story delivers");
    deliver.items[0].count = Some(items);
    plan
}
