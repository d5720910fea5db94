//! What wakes whoever waits for a job.

use tokio::sync::watch;

/// Rung whenever there may be work. Shared by all processes.
pub type Bell = watch::Sender<u64>;

/// Wakes everybody.
pub(super) fn ring(bell: &Bell) {
    bell.send_modify(|rung| *rung += 1);
}
