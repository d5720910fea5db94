//! Where a key's record lives.

mod census;
mod choose;
mod command;
#[cfg(test)]
mod contract;
mod dead_letter;
mod disk;
mod embedded;
mod event;
#[cfg(test)]
mod event_contract;
mod remote;
#[cfg(test)]
mod remote_tests;
mod rows;
mod schema;
mod sqlite;
mod transitions;
pub mod wire;

pub use census::{Census, Rows};
pub use choose::for_policy;
pub use command::*;
pub use dead_letter::{DeadFilter, DeadLetter};
pub use disk::DiskStore;
pub use embedded::EmbeddedStore;
pub use event::*;
pub use remote::RemoteStore;
pub use rows::{Record, Waiting};
pub use sqlite::{OpenError, SqliteStore};
