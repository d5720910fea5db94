//! Planted mistakes: each is one wrong decision with its backstop removed, so that a harness that does not see it is blind
//! (H4). `serve` can reach none of them.

mod catalogue;
mod events;
mod hunt;
mod mutant;
mod orders;
mod sends;
mod unplanted;
mod worth;

pub use catalogue::{ALL, find};
pub use hunt::{Hunted, Kill, hunt};
pub use mutant::{Mutant, Mutation, Planted};
pub use unplanted::Unplanted;
pub use worth::{Deeds, Worth, situations};
