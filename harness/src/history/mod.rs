//! What happened in a run: an ordered list of typed events with simulated time.

mod event;

pub use event::*;
