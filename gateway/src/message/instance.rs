//! `instances` (S13).

use serde_json::Value;

use super::{MessageError, Order, check};

/// `{"name"}`.
///
/// # Errors
/// [`MessageError`].
pub fn instance(content: &Value) -> Result<Order, MessageError> {
    check::name(&content["name"], "name").map(Order::instance)
}
