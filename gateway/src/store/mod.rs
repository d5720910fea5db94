//! Where a key's record lives.

mod command;
#[cfg(test)]
mod contract;
mod embedded;
mod remote;
mod rows;
mod schema;
mod sqlite;
mod transitions;
pub mod wire;

pub use command::*;
pub use embedded::EmbeddedStore;
pub use remote::RemoteStore;
pub use rows::Record;
pub use sqlite::{OpenError, SqliteStore};
