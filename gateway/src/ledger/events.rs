//! The commands about events, stamped as every other.

use std::time::Duration;

use super::Ledger;
use crate::{
    policy::as_ms,
    store::{Command, DeadFilter, Done, EventCommand, Failure, Item, Reply, StoreError, Ticket},
};

impl Ledger {
    pub(crate) async fn receive(&self, items: Vec<Item>) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        let expires_ms = now_ms.saturating_add(as_ms(self.policy.inbox_kept));
        let sweep_every_ms = self.sweep_every_ms();
        self.event(EventCommand::Receive { items, now_ms, expires_ms, sweep_every_ms }).await
    }

    pub(crate) async fn lease_work(&self) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        self.event(EventCommand::Lease {
            now_ms,
            lease_end_ms: now_ms.saturating_add(as_ms(self.policy.lease)),
            skew_ms: as_ms(self.policy.skew),
            attempts: self.policy.attempts,
        })
        .await
    }

    pub(crate) async fn heartbeat(&self, ticket: Ticket) -> Result<Reply, StoreError> {
        let lease_end_ms = self.world.clock_ms().saturating_add(as_ms(self.policy.lease));
        self.event(EventCommand::Heartbeat { ticket, lease_end_ms, skew_ms: as_ms(self.policy.skew) }).await
    }

    pub(crate) async fn complete(&self, ticket: Ticket, done: Done) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        let expires_ms = now_ms.saturating_add(as_ms(self.policy.inbox_kept));
        let sweep_every_ms = self.sweep_every_ms();
        self.event(EventCommand::Complete { ticket, now_ms, expires_ms, sweep_every_ms, done }).await
    }

    /// The attempt came to nothing, and is made again after `pause` if at all.
    pub(crate) async fn fail(
        &self,
        ticket: Ticket,
        failure: Failure,
        pause: Duration,
        error: &str,
    ) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        let retry_ms = now_ms.saturating_add(as_ms(pause));
        self.event(EventCommand::Fail { ticket, now_ms, retry_ms, failure, error: error.to_owned() }).await
    }

    pub(crate) async fn redrive(&self, id: i64) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        let oldest_ms = now_ms.saturating_sub(as_ms(self.policy.redrive_window));
        self.event(EventCommand::Redrive { id, now_ms, oldest_ms }).await
    }

    pub(crate) async fn redrive_all(&self, filter: DeadFilter, limit: u32) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        let oldest_ms = now_ms.saturating_sub(as_ms(self.policy.redrive_window));
        self.event(EventCommand::RedriveAll { filter, now_ms, oldest_ms, limit }).await
    }

    pub(crate) async fn list_dead(&self, filter: DeadFilter, limit: u32) -> Result<Reply, StoreError> {
        self.event(EventCommand::ListDead { filter, limit }).await
    }

    async fn event(&self, command: EventCommand) -> Result<Reply, StoreError> {
        self.execute(Command::Event(command)).await
    }
}
