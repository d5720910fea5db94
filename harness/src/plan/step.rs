//! What the producers send, and what the provider says against the truth.

use serde::{Deserialize, Serialize};

use super::Span;
use super::defaults::{first_gateway, is_first_gateway, is_one, one};

/// One thing that a producer does, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When, since the run began.
    pub at: Span,
    /// Sends a message.
    pub send: Send,
}

/// A send of one logical operation, retried until its answer is definite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// Name of the logical operation. A second step with the same `op` repeats it: same key, same content.
    pub op: String,
    /// The recipient; a repetition leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The text; a repetition leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Uses the key of another operation, as a producer in error would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_of: Option<String>,
    /// How many producers send it at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: u32,
    /// The gateways to send to, in turn over producers and attempts.
    #[serde(default = "first_gateway", skip_serializing_if = "is_first_gateway")]
    pub via: Vec<String>,
    /// Overrides the pauses between attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Vec<Span>>,
}

/// What the provider says to one of its requests, instead of the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedAnswer {
    /// Which request at the provider, from 1.
    pub request: u32,
    /// Whether the provider acts on it.
    pub acts: bool,
    /// The status it answers with.
    pub status: u16,
}
