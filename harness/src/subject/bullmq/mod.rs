//! BullMQ as far as the texts use it: a queue, and a worker that takes one job at a time. All state is in Redis (W7).
//!
//! Whoever waits for a job is woken by a bell in place of a blocking command, and looks for stalled jobs only while
//! there are active ones: ticks that find nothing are left out, so that a day stays cheap.

mod bell;
mod failed;
mod job;
mod queue;
mod worker;

pub use bell::Bell;
pub use failed::failed;
pub use job::Job;
pub use queue::{Queue, QueueError, prefix};
pub use worker::{ATTEMPTS, Processor, Worker};
