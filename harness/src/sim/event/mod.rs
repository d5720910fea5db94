//! The engine: turmoil's own network stack (`turmoil-net`) on one paused runtime, driven by events.

mod engine;
mod hosts;
mod lane;
mod pump;
mod world;

pub use engine::EventEngine;
