//! Every invariant, safety first.

use super::invariant::Invariant;
use super::{
    completes, faithful_replay, fenced, honest_answer, justified_unknown, mismatch, no_loss, no_wedge, once,
};

/// Every invariant, safety first, in the order in which verdicts name them.
pub const ALL: &[Invariant] = &[
    once::INVARIANT,
    faithful_replay::INVARIANT,
    honest_answer::INVARIANT,
    mismatch::INVARIANT,
    fenced::INVARIANT,
    justified_unknown::INVARIANT,
    no_loss::INVARIANT,
    completes::INVARIANT,
    no_wedge::INVARIANT,
];
