//! What one run does: the world, the steps, the faults, the seed, and what is expected of it.

mod check;
mod defaults;
mod error;
mod expand;
mod expectation;
mod fault;
mod files;
mod link;
mod meant;
mod names;
mod offset;
mod parse;
mod places;
pub mod sample;
mod scenario;
mod seed;
mod shrink_time;
mod span;
mod step;
mod vary;
mod world;
mod write;

pub use error::*;
pub use expand::*;
pub use expectation::*;
pub use fault::*;
pub use files::*;
pub use link::*;
pub use names::{PROFILES, VERDICTS};
pub use offset::*;
pub use scenario::*;
pub use span::*;
pub use step::*;
pub use vary::*;
pub use world::*;
