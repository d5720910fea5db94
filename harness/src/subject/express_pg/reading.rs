//! What the text's code and its prose do each in its own way.

use std::time::Duration;

use onceproof_gateway::world::BoxFuture;

use super::{failure::Failure, webhook::Webhook};

/// One of the two.
pub trait Reading: Send + Sync + 'static {
    /// Processes a webhook, in one transaction; what fails is attempted again.
    fn process(&self, webhook: Webhook) -> BoxFuture<Result<(), Failure>>;

    /// How long to wait, where the backoff is this.
    fn pause(&self, backoff: Duration) -> Duration;

    /// A retry has failed: what becomes of its processing key.
    fn after_failed_retry(&self, webhook: Webhook) -> BoxFuture<Result<(), Failure>>;

    /// There are no more attempts.
    fn give_up(&self, webhook: Webhook, why: String) -> BoxFuture<Result<(), Failure>>;
}
