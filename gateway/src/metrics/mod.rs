//! What a gateway counts of itself (M1), and what it makes of that (M2).
//!
//! Each gateway has a registry of its own, none is global: many gateways run in one process in a simulation. Labels are
//! words of this crate; no token, key, number or id is ever one.

mod census;
mod counts;
mod exposition;
mod names;
mod recent;
mod sent_log;

pub use counts::Metrics;
pub use names::SUMMED;

pub(crate) use census::Surveyor;
pub(crate) use counts::{Asker, Retried, Unprotected};
pub(crate) use exposition::TEXT_FORMAT;
pub(crate) use sent_log::{content_of, content_of_stored};
