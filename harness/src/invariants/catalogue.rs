//! Every invariant, safety first.

use super::invariant::Invariant;
use super::{
    authentic, bounded, completes, faithful_replay, fenced, honest_answer, justified_unknown, mismatch,
    monotone, no_collapse, no_loss, no_wedge, once, prompt_ack, scope, stable_key,
};

/// Every invariant, safety first, in the order in which verdicts name them.
pub const ALL: &[Invariant] = &[
    once::INVARIANT,
    faithful_replay::INVARIANT,
    honest_answer::INVARIANT,
    no_collapse::INVARIANT,
    scope::INVARIANT,
    mismatch::INVARIANT,
    authentic::INVARIANT,
    fenced::INVARIANT,
    monotone::INVARIANT,
    stable_key::INVARIANT,
    justified_unknown::INVARIANT,
    no_loss::INVARIANT,
    completes::INVARIANT,
    no_wedge::INVARIANT,
    bounded::INVARIANT,
    prompt_ack::INVARIANT,
];
