//! The commands on keys, one family a file.

pub mod bullmq;
mod call;
mod catalogue;
mod hashes;
mod keys;
mod lists;
pub mod scripts;
mod sorted_sets;
mod strings;

pub use call::{Call, Outcome, Spec, fits, wrong_arity};
use call::{NO_INTEGER, SYNTAX, WRONG_TYPE, bytes_or_nil, count, grow, read, write};
pub use catalogue::find;
