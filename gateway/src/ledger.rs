//! The store as the gateway uses it: commands stamped with this host's clock and the policy's periods, and every
//! answer reported to the sweeper's alarm.

use std::sync::Arc;

use crate::{
    alarm::Alarm,
    policy::{Policy, as_ms},
    store::{Answer, Command, Reply, Slot, Store, StoreError, StoredAnswer},
    world::SharedWorld,
};

/// The store, the clock, and the periods.
#[derive(Clone)]
pub(crate) struct Ledger {
    world: SharedWorld,
    store: Arc<dyn Store>,
    policy: Arc<Policy>,
    alarm: Arc<Alarm>,
    /// How long the provider remembers a reference; `None` where it cannot be asked.
    retention_ms: Option<i64>,
}

impl Ledger {
    pub(crate) fn new(
        world: SharedWorld,
        store: Arc<dyn Store>,
        policy: Arc<Policy>,
        alarm: Arc<Alarm>,
        retention_ms: Option<i64>,
    ) -> Self {
        Self { world, store, policy, alarm, retention_ms }
    }

    pub(crate) async fn claim(
        &self,
        slot: &Slot,
        fingerprint: &str,
        claim_id: &str,
        admissible: bool,
    ) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        self.execute(Command::Claim {
            slot: slot.clone(),
            fingerprint: fingerprint.to_owned(),
            claim_id: claim_id.to_owned(),
            now_ms,
            lease_end_ms: now_ms.saturating_add(as_ms(self.policy.lease)),
            skew_ms: as_ms(self.policy.skew),
            tombstone_ms: as_ms(self.policy.tombstone),
            admissible,
            askable: self.is_askable(),
        })
        .await
    }

    pub(crate) async fn mark(
        &self,
        slot: &Slot,
        token: i64,
        reference: &str,
        request: &str,
    ) -> Result<Reply, StoreError> {
        self.execute(Command::Mark {
            slot: slot.clone(),
            token,
            now_ms: self.world.clock_ms(),
            reference: reference.to_owned(),
            request: request.to_owned(),
        })
        .await
    }

    /// The TTL runs from the attempt that the store executes, so each attempt has its own time (S5).
    pub(crate) async fn done(
        &self,
        slot: &Slot,
        reference: &str,
        answer: &StoredAnswer,
    ) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        self.execute(Command::Done {
            slot: slot.clone(),
            reference: reference.to_owned(),
            now_ms,
            expires_ms: now_ms.saturating_add(as_ms(self.policy.ttl)),
            answer: answer.clone(),
        })
        .await
    }

    /// The first re-ask of an unknown is due at once.
    pub(crate) async fn unknown(&self, slot: &Slot, token: i64) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        self.execute(Command::Unknown {
            slot: slot.clone(),
            token,
            now_ms,
            next_ask_ms: self.is_askable().then_some(now_ms),
        })
        .await
    }

    pub(crate) async fn release(&self, slot: &Slot, token: i64) -> Result<Reply, StoreError> {
        self.execute(Command::Release { slot: slot.clone(), token, now_ms: self.world.clock_ms() }).await
    }

    pub(crate) async fn fence(&self, slot: &Slot, claim_id: &str) -> Result<Reply, StoreError> {
        self.execute(Command::Fence {
            slot: slot.clone(),
            claim_id: claim_id.to_owned(),
            now_ms: self.world.clock_ms(),
        })
        .await
    }

    pub(crate) async fn read(&self, slot: &Slot) -> Result<Reply, StoreError> {
        self.execute(Command::Read {
            slot: slot.clone(),
            now_ms: self.world.clock_ms(),
            skew_ms: as_ms(self.policy.skew),
            tombstone_ms: as_ms(self.policy.tombstone),
        })
        .await
    }

    /// The reply, and when the store has something more to do.
    pub(crate) async fn sweep(&self) -> Result<Answer, StoreError> {
        self.answer(Command::Sweep {
            now_ms: self.world.clock_ms(),
            skew_ms: as_ms(self.policy.skew),
            tombstone_ms: as_ms(self.policy.tombstone),
            askable: self.is_askable(),
        })
        .await
    }

    /// Only what would be dead before the provider forgets the first dispatch is asked about again.
    pub(crate) async fn begin_ask(&self, retention_ms: i64) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        let dead_after_ms = as_ms(self.policy.dead_after());
        self.execute(Command::BeginAsk {
            now_ms,
            settle_lease_end_ms: now_ms.saturating_add(as_ms(self.policy.lease)),
            skew_ms: as_ms(self.policy.skew),
            first_dispatch_at_or_after_ms: now_ms.saturating_add(dead_after_ms).saturating_sub(retention_ms),
            dead_before_ms: now_ms.saturating_sub(dead_after_ms),
        })
        .await
    }

    pub(crate) async fn release_asked(&self, slot: &Slot, settle_token: i64) -> Result<Reply, StoreError> {
        self.execute(Command::ReleaseAsked {
            slot: slot.clone(),
            settle_token,
            now_ms: self.world.clock_ms(),
        })
        .await
    }

    pub(crate) async fn ask_later(
        &self,
        slot: &Slot,
        settle_token: i64,
        next_ask_ms: i64,
    ) -> Result<Reply, StoreError> {
        self.execute(Command::AskLater {
            slot: slot.clone(),
            settle_token,
            now_ms: self.world.clock_ms(),
            next_ask_ms: Some(next_ask_ms),
        })
        .await
    }

    /// `None` where the provider cannot be asked about an unknown.
    pub(crate) fn retention_ms(&self) -> Option<i64> {
        self.retention_ms
    }

    fn is_askable(&self) -> bool {
        self.retention_ms.is_some()
    }

    async fn execute(&self, command: Command) -> Result<Reply, StoreError> {
        self.answer(command).await.map(|answer| answer.reply)
    }

    async fn answer(&self, command: Command) -> Result<Answer, StoreError> {
        self.alarm.begin();
        let result = self.store.execute(command).await;
        match &result {
            Ok(answer) => self.alarm.end(answer.next_due_ms),
            Err(StoreError::Ambiguous(_)) => {
                // A late claim is a ghost that only the sweeper removes, once its lease is out.
                let pause_ms = as_ms(self.policy.lease + self.policy.skew);
                self.alarm.end_in_doubt(self.world.clock_ms(), pause_ms);
            }
            Err(_) => self.alarm.end_in_vain(),
        }
        result
    }
}
