//! What is wrong with a message.

/// What is wrong with a message (400). It names one member and says what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{member}` must be {expected}")]
pub struct MessageError {
    /// Which member of the content.
    pub member: &'static str,
    /// What it must be.
    pub expected: &'static str,
}
