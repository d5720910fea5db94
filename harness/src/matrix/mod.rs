//! The whole picture: every point of a few small workloads × every way to hurt × every way to come back × every profile and
//! ability, exhaustively and in a fixed order.

mod cell;
mod enumerate;
mod fate;
mod hurt;
mod otherwise;
mod place;
mod played;
mod retry;
mod workload;

pub use cell::Cell;
pub use enumerate::cells;
pub use fate::Fate;
pub use hurt::Hurt;
pub use otherwise::Otherwise;
pub use place::Place;
pub use played::{Played, play};
pub use retry::Retry;
pub use workload::Workload;
