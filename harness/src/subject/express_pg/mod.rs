//! Text C's receiver of webhooks, with its faults: a processing key in Redis, a unique constraint in PostgreSQL, and a
//! worker that retries what is in a sorted set.
//!
//! The text's code and its prose disagree. What both have is in the files here; what each does its own way is a
//! `Reading`: `code.rs` and `prose.rs`. What the text leaves open is decided as its libraries decide
//! it, but for one thing: they end a process that does not listen to errors of a connection, and it is taken to listen.

mod client;
mod code;
mod decisions;
mod diary;
mod failure;
mod keys;
mod outbox_worker;
mod points;
mod polls;
mod pool;
mod prose;
mod reading;
mod receiver;
mod replying;
mod retry_queue;
mod retry_worker;
mod signature;
mod system;
mod webhook;

pub use decisions::Decisions;
pub use points::POINTS;
pub use system::ExpressPg;
