//! The host `database` as a PostgreSQL, as far as text C uses it: a transaction of many frames, a unique constraint,
//! rows that are locked. One frame is one statement, so that each of them, or its answer, can be lost.
//!
//! SQLite has one writer at a time, and a transaction here stays open for as long as a provider thinks: so the tables
//! are our own, and two transactions wait for each other only where PostgreSQL has them wait. Its state lives outside
//! the host, so a crash loses what was not committed and nothing else.

mod book;
mod history;
mod server;
mod session;
mod statement;
mod tables;

pub use book::Postgres;
pub use statement::{Answer, Outcome, SqlError, Statement};
pub use tables::{DeadLetter, Message};
