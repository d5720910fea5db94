//! The sender of webhooks: at-least-once (W1), with a fresh signature for each attempt (W2).

mod envelope;
mod sender;
mod signature;

pub use sender::Sender;
pub use signature::{META_SECRET, STANDARD_SECRET, STRIPE_SECRET, VERIFY_TOKEN, sign};
