//! A producer's own durable store: the orders that it has taken, and how far each has come.

use super::Order;
use crate::world::BoxFuture;

/// Where an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderState {
    /// There is something left to do.
    Open,
    /// Every step has acted.
    Done,
    /// Nothing more is done by itself: a person has to look.
    GivenUp,
}

/// Whether an order was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is written down, with its keys.
    New,
    /// It was there already, and nothing was changed.
    Known,
    /// Another order is there under its id, and nothing was changed.
    Other,
}

/// An order as it is written down.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What it is.
    pub order: Order,
    /// The key of each step, where it is written down.
    pub keys: Vec<Option<String>>,
    /// What each step that has acted made, where that is known.
    pub made: Vec<Option<String>>,
    /// How many of its steps have acted: the first ones.
    pub steps_done: usize,
    /// How often the step that is next has failed, its retries used up.
    pub failures: u32,
    /// Where it stands.
    pub state: OrderState,
    /// Why it was given up.
    pub why: Option<String>,
}

/// What is written of an order that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noted {
    /// A step has acted. After the last one the order is done.
    Acted {
        /// Its number, from 0.
        step: usize,
        /// What it made, where that is known.
        id: Option<String>,
    },
    /// A step has failed, its retries used up.
    Failed,
    /// A step bears this key from here on.
    Rekeyed {
        /// Its number, from 0.
        step: usize,
        /// The key.
        key: String,
    },
    /// Nothing more is done by itself.
    GivenUp {
        /// What was last heard.
        why: String,
    },
}

/// Why a book could not be read or written. Nothing was.
#[derive(Debug, thiserror::Error)]
#[error("the producer's book: {0}")]
pub struct BookError(pub String);

/// A durable store. What a method has confirmed outlives the process and the host. One process at a time works with a
/// book; two would send everything twice, each time with the same keys.
pub trait Book: Send + Sync + 'static {
    /// Writes an order and its keys down, if there is none of this id: `INSERT … ON CONFLICT DO NOTHING` (S12).
    fn take(&self, order: Order, keys: Vec<Option<String>>) -> BoxFuture<Result<Taken, BookError>>;

    /// The ids of the open orders, in the order in which they were taken.
    fn open(&self) -> BoxFuture<Result<Vec<String>, BookError>>;

    /// An order as it is written down.
    fn entry(&self, id: &str) -> BoxFuture<Result<Option<Entry>, BookError>>;

    /// Writes down how far an order has come.
    fn note(&self, id: &str, what: Noted) -> BoxFuture<Result<(), BookError>>;
}
