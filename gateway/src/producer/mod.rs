//! A producer that keeps its side of the promise (S12, S13): it makes a key once, with the order, writes both down before
//! anything is queued, and repeats with that key until the answer is definite, also after a restart.
//!
//! [`Producer`] is what an application starts; [`Book`] is its own durable store, [`Line`] its way to the gateway. What
//! can be decided wrongly is a field of [`ProducerPolicy`].

mod answer;
mod book;
mod errand;
mod key;
mod line;
mod order;
pub mod points;
mod policy;
mod shop;
mod sqlite_book;
#[cfg(test)]
mod tests;
mod zone;

pub use book::{Book, BookError, Entry, Noted, OrderState, Taken};
pub use key::{Place, deterministic_key};
pub use line::{Address, HttpLine, Line, Posting, Question, Tokens};
pub use order::{Domain, Keys, Order, OrderError, Step, Target};
pub use policy::{
    Bucket, BucketTime, Encoding, FailedStep, Persisted, ProducerPolicy, RetryKey, Subject, WorkerKey,
};
pub use shop::{Producer, ProducerError};
pub use sqlite_book::SqliteBook;
pub use zone::Zone;
