//! What a caller asks to send (S1): one module for each way of saying it, and the [`Order`] that all come to.

mod check;
mod general;
mod instance;
mod media;
mod order;
mod simple;

pub use instance::instance;
pub use media::{MediaKind, media};
pub use order::{Attachment, INSTANCES_SCOPE, Made, Order};
pub use simple::{contact, location, text};

pub use general::message;

/// What is wrong with a message (400). It names one member and says what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{member}` must be {expected}")]
pub struct MessageError {
    /// Which member of the content.
    pub member: &'static str,
    /// What it must be.
    pub expected: &'static str,
}
