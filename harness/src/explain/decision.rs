//! A decision, and sets of them.

use std::collections::BTreeSet;

use crate::{matrix::Otherwise, subject::Structures};

/// A decision that a profile takes otherwise than `strict`.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Its name: a policy field, or a word for a structure.
    pub name: String,
    /// How the profile decides.
    pub decided: String,
    /// How `strict` does.
    pub instead: String,
    /// How it is taken so.
    pub take: Take,
}

/// How a decision is taken as `strict` does.
#[derive(Debug, Clone)]
pub enum Take {
    /// A policy field is set.
    Field(toml::Value),
    /// A system without a policy does something otherwise.
    Structure(fn(&mut Structures)),
    /// The reference gateway plays in its place.
    ReceiverOfStrict,
}

/// Decisions by their place in the list of a profile.
pub type Set = BTreeSet<usize>;

/// What all decisions of a set come to.
#[must_use]
pub fn otherwise(decisions: &[Decision], set: &Set) -> Otherwise {
    let mut otherwise = Otherwise::default();
    for decision in set.iter().filter_map(|index| decisions.get(*index)) {
        match &decision.take {
            Take::Field(value) => _ = otherwise.policy.insert(decision.name.clone(), value.clone()),
            Take::Structure(take) => take(&mut otherwise.structures),
            Take::ReceiverOfStrict => {}
        }
    }
    otherwise
}

/// Whether with this set the reference gateway plays in place of the whole system.
#[must_use]
pub fn plays_as_strict(decisions: &[Decision], set: &Set) -> bool {
    set.iter().filter_map(|index| decisions.get(*index)).any(Decision::replaces_everything)
}

impl Decision {
    /// Whether it replaces everything, all other decisions included.
    #[must_use]
    pub fn replaces_everything(&self) -> bool {
        matches!(self.take, Take::ReceiverOfStrict)
    }
}
