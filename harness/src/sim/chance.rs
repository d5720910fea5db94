//! Chance: one ChaCha stream for each actor, all from the run's seed.
//!
//! An actor that draws more does not shift what the others draw, so a small change to a plan stays small.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use sha2::{Digest as _, Sha256};

/// One actor's source of chance.
#[derive(Debug)]
pub struct Chance {
    stream: ChaCha8Rng,
}

impl Chance {
    /// The stream of `actor` in the run with `seed`.
    #[must_use]
    pub fn new(seed: u64, actor: &str) -> Self {
        let key = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(actor).finalize();
        Self { stream: ChaCha8Rng::from_seed(key.into()) }
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.stream.next_u64()
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let width = high - low + 1;
        // The bias is below width / 2^64, which no run can see.
        low + self.draw() % width
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.stream.fill_bytes(bytes);
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.between(0, last as u64) as usize;
            items.swap(last, other);
        }
    }
}
