//! Whoever delivers the messages.

mod outcome;
mod upload;
mod whatsapp;

pub use outcome::{Outcome, Refusal, classify};
pub use whatsapp::{Ability, Outbound, ProviderConfig, WhatsApp};
