//! No mutation: `strict` as it is.

use super::Mutation;

/// Leaves everything alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unplanted;

impl Mutation for Unplanted {}
