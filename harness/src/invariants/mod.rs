//! What must be true of every history, one promise a file, each a linear fold over the events.
//!
//! [`ALL`] lists them. An invariant never asks whether a waiver is wanted: a waiver is a predicate over
//! what happened ([`waiver`]), and the ruling says which one held and shows the evidence.

mod attribution;
mod authentic;
mod bounded;
mod catalogue;
mod completes;
mod events;
mod faithful_replay;
mod fenced;
mod fenced_rows;
mod findings;
mod honest_answer;
mod invariant;
mod justified_unknown;
mod mismatch;
mod monotone;
mod no_collapse;
mod no_loss;
mod no_wedge;
mod once;
mod prompt_ack;
mod scope;
mod stable_key;
mod view;
pub mod waiver;

pub use catalogue::ALL;
pub use invariant::{Invariant, Kind, Ruling};
