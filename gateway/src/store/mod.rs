//! Where a key's record lives.

mod command;

pub use command::*;
