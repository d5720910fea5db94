//! What a caller asks to send (S1): one module for each way of saying it, and the [`Order`] that all come to.

mod check;
mod error;
mod general;
mod instance;
mod media;
mod order;
mod simple;

pub use error::MessageError;
pub use general::message;
pub use instance::instance;
pub use media::{MediaKind, media};
pub use order::{Attachment, INSTANCES_SCOPE, Made, Order, REFERENCE};
pub use simple::{contact, location, text};
