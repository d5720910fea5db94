//! The second engine: `turmoil::Sim`, one tick for each millisecond. It checks the first one's scheduler: what
//! both can play must end in the same verdict.

mod director;
mod engine;
mod host;
mod line;
mod links;
mod refusal;
mod tasks;
mod timers;
mod world;

pub use engine::TurmoilEngine;
