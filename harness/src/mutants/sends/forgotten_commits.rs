//! A database that confirms what is not yet on the disk.

use crate::mutants::Mutation;

/// Its last commits are gone when its host dies.
#[derive(Debug)]
pub struct ForgottenCommits;

impl Mutation for ForgottenCommits {
    fn commits_forgotten(&self) -> u32 {
        2
    }
}
