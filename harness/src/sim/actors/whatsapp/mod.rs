//! The host `whatsapp`: a provider after the WhatsApp Cloud API, its ledger of effects, what a plan makes it
//! say against the truth, and the sender of webhooks.

mod answer;
mod ledger;
mod serve;
mod webhooks;

pub use serve::{HOST, Provider};
pub use webhooks::{META_SECRET, STANDARD_SECRET, STRIPE_SECRET, VERIFY_TOKEN, sign};
