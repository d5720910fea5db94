//! What one run does: the world, the steps, the faults, the seed, and what is expected of it.

mod scenario;

pub use scenario::*;
