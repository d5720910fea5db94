//! The scenario file: a story that a gateway must survive.
//!
//! A [`Scenario`] names lists of profiles and abilities; a [`Plan`](super::Plan) is the same with one of
//! each and a seed. Both are the same TOML.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expectations, Fault, ScriptedAnswer, Send, Step, Vary, WorldSpec};

/// A story, its world, and what is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// One line that says what happens.
    pub title: String,
    /// Two or three sentences that say why it matters.
    pub story: String,
    /// The rules that it shows, such as `S10`.
    pub rules: Vec<String>,
    /// The hosts, who plays them, and their settings.
    pub world: WorldSpec,
    /// What the producers do.
    #[serde(default, rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What the provider says against the truth.
    #[serde(default, rename = "answer", skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<ScriptedAnswer>,
    /// What strikes.
    #[serde(default, rename = "fault", skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// What placeholders stand for, where one story is told several times.
    #[serde(default, skip_serializing_if = "Vary::is_empty")]
    pub vary: Vary,
    /// What is expected.
    pub expect: Expectations,
}

impl Scenario {
    /// The logical operations that its steps send.
    #[must_use]
    pub fn ops(&self) -> BTreeSet<&str> {
        self.sends().map(|send| send.op.as_str()).collect()
    }

    /// The first step of an operation: the one that says what is sent.
    #[must_use]
    pub fn first_send(&self, op: &str) -> Option<&Send> {
        self.sends().find(|send| send.op == op)
    }

    /// Every send, in the order of the steps.
    pub fn sends(&self) -> impl Iterator<Item = &Send> {
        self.steps.iter().filter_map(|step| step.send.as_ref())
    }
}
