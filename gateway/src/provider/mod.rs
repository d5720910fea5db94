//! Whoever delivers the messages.

mod outcome;
mod sighting;
mod upload;
mod whatsapp;

pub use outcome::{Outcome, Refusal, classify};
pub use sighting::{Sighting, sight};
pub use whatsapp::{Ability, Outbound, ProviderConfig, WhatsApp};
