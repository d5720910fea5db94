//! Pauses between the attempts of a row: 1, 2, 4, 8 s and so on to a minute, ±20 % (W8).

use std::time::Duration;

use crate::world::World;

/// The longest pause, before its jitter.
const LONGEST: Duration = Duration::from_secs(60);

/// The pause after this attempt, counted from 1.
pub(super) fn backoff(world: &dyn World, attempt: u32) -> Duration {
    let exponent = attempt.saturating_sub(1).min(6);
    let base = Duration::from_secs(1 << exponent).min(LONGEST);
    let mut bytes = [0; 2];
    world.fill_random(&mut bytes);
    // From 80 % to 120 %, in 65,536 steps.
    let share = u32::from(u16::from_be_bytes(bytes));
    base * 4 / 5 + base * 2 / 5 * share / u32::from(u16::MAX)
}
