//! What happened in a run: an ordered list of typed events with simulated time.

#[cfg(test)]
pub(crate) mod build;
mod event;
mod ndjson;

pub use event::*;
pub use ndjson::{Fault as ReadFault, MAX_ENTRIES, MAX_LINE_BYTES, ReadError, VERSION, read, write};
