//! The host `whatsapp`: a provider after the WhatsApp Cloud API, its ledger of effects, and what a plan makes
//! it say against the truth.

mod answer;
mod ledger;
mod marker;
mod serve;

pub use marker::marked;
pub use serve::{HOST, Provider};
