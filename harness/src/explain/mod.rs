//! Which decisions break a profile, and what it costs to take them as `strict` does: every bad cell of its matrix is played
//! again with other decisions, until the smallest set is found with which each is good.

mod catalogue;
mod decision;
mod explanation;
mod price;
mod search;
mod trial;

pub use catalogue::{RECEIVER_OF_STRICT, decisions};
pub use decision::{Decision, Set, otherwise, plays_as_strict};
pub use explanation::{Check, Explanation, Fresh, Part, change, of, parts};
pub use price::{Change, Price, Prices};
pub use search::{Play, Search};
pub use trial::{Trial, attempt};
