//! The store as the gateway uses it: commands stamped with this host's clock and the policy's periods, and every
//! answer reported to the alarms of the sweeper and the workers.

mod events;

use std::{sync::Arc, time::Duration};

use crate::{
    alarm::Alarm,
    policy::{Policy, as_ms},
    provider::Ability,
    store::{Answer, Command, Reply, Slot, Sought, Store, StoreError, StoredAnswer, Whose, Word},
    world::SharedWorld,
};

/// Who is told what the store's answers say of the future.
#[derive(Clone, Default)]
pub(crate) struct Alarms {
    /// The sweeper.
    pub(crate) sweep: Arc<Alarm>,
    /// The workers.
    pub(crate) work: Arc<Alarm>,
}

/// The store, the clock, and the periods.
#[derive(Clone)]
pub(crate) struct Ledger {
    world: SharedWorld,
    store: Arc<dyn Store>,
    policy: Arc<Policy>,
    alarms: Alarms,
    /// What the provider can do about an unknown.
    ability: Ability,
}

impl Ledger {
    pub(crate) fn new(
        world: SharedWorld,
        store: Arc<dyn Store>,
        policy: Arc<Policy>,
        alarms: Alarms,
        ability: Ability,
    ) -> Self {
        Self { world, store, policy, alarms, ability }
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
        let now_ms = self.world.clock_ms();
        self.execute(Command::Mark {
            slot: slot.clone(),
            token,
            now_ms,
            lease_end_ms: now_ms.saturating_add(as_ms(self.policy.lease)),
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
            expires_ms: now_ms.saturating_add(as_ms(self.policy.ttl_of(&slot.scope))),
            sweep_every_ms: self.sweep_every_ms(),
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
            sweep_every_ms: self.sweep_every_ms(),
        })
        .await
    }

    /// Only what would be dead before the provider forgets the first dispatch is asked about again; a provider without
    /// a memory for keys is never asked, and what was due to be asked about is given up (an ability may have changed).
    pub(crate) async fn begin_ask(&self, retention: Option<Duration>) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        let dead_after_ms = as_ms(self.policy.dead_after());
        self.execute(Command::BeginAsk {
            now_ms,
            settle_lease_end_ms: now_ms.saturating_add(as_ms(self.policy.lease)),
            skew_ms: as_ms(self.policy.skew),
            first_dispatch_at_or_after_ms: retention.map_or(i64::MAX, |retention| {
                now_ms.saturating_add(dead_after_ms).saturating_sub(as_ms(retention))
            }),
            dead_before_ms: now_ms.saturating_sub(dead_after_ms),
        })
        .await
    }

    pub(crate) async fn begin_query(&self) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        self.execute(Command::BeginQuery {
            now_ms,
            settle_lease_end_ms: now_ms.saturating_add(as_ms(self.policy.lease)),
            skew_ms: as_ms(self.policy.skew),
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
        next_ask_ms: Option<i64>,
    ) -> Result<Reply, StoreError> {
        self.execute(Command::AskLater {
            slot: slot.clone(),
            settle_token,
            now_ms: self.world.clock_ms(),
            next_ask_ms,
        })
        .await
    }

    pub(crate) async fn find(&self, sought: Sought, whose: Whose) -> Result<Reply, StoreError> {
        self.execute(Command::Find {
            sought,
            whose,
            now_ms: self.world.clock_ms(),
            skew_ms: as_ms(self.policy.skew),
            tombstone_ms: as_ms(self.policy.tombstone),
        })
        .await
    }

    /// The operator's word that it was sent.
    pub(crate) async fn resolve_sent(
        &self,
        slot: &Slot,
        reference: &str,
        answer: StoredAnswer,
    ) -> Result<Reply, StoreError> {
        let now_ms = self.world.clock_ms();
        let expires_ms = now_ms.saturating_add(as_ms(self.policy.ttl_of(&slot.scope)));
        let word = Word::Sent { expires_ms, sweep_every_ms: self.sweep_every_ms(), answer };
        self.resolve(slot, reference, now_ms, word).await
    }

    /// The operator's word that it was not.
    pub(crate) async fn resolve_not_sent(&self, slot: &Slot, reference: &str) -> Result<Reply, StoreError> {
        let word = Word::NotSent { dead_after_ms: as_ms(self.policy.dead_after()) };
        self.resolve(slot, reference, self.world.clock_ms(), word).await
    }

    async fn resolve(
        &self,
        slot: &Slot,
        reference: &str,
        now_ms: i64,
        word: Word,
    ) -> Result<Reply, StoreError> {
        let skew_ms = as_ms(self.policy.skew);
        let (slot, reference) = (slot.clone(), reference.to_owned());
        self.execute(Command::Resolve { slot, reference, now_ms, skew_ms, word }).await
    }

    pub(crate) async fn list_unknown(&self, limit: u32) -> Result<Reply, StoreError> {
        let skew_ms = as_ms(self.policy.skew);
        self.execute(Command::ListUnknown { now_ms: self.world.clock_ms(), skew_ms, limit }).await
    }

    /// Each count ends at `limit`.
    pub(crate) async fn census(&self, limit: u32) -> Result<Reply, StoreError> {
        let skew_ms = as_ms(self.policy.skew);
        self.execute(Command::Census { now_ms: self.world.clock_ms(), skew_ms, limit }).await
    }

    pub(crate) fn ability(&self) -> Ability {
        self.ability
    }

    fn is_askable(&self) -> bool {
        matches!(self.ability, Ability::Keyed { .. } | Ability::Queryable)
    }

    fn sweep_every_ms(&self) -> i64 {
        as_ms(self.policy.sweep_every).max(1)
    }

    async fn execute(&self, command: Command) -> Result<Reply, StoreError> {
        self.answer(command).await.map(|answer| answer.reply)
    }

    async fn answer(&self, command: Command) -> Result<Answer, StoreError> {
        let (sweep, work) = (self.alarms.sweep.begin(), self.alarms.work.begin());
        let result = self.store.execute(command).await;
        match &result {
            Ok(answer) => {
                sweep.end(answer.next_due_ms);
                work.end(answer.next_work_ms);
            }
            Err(StoreError::Ambiguous(_)) => {
                // A late claim is a ghost that only the sweeper removes, once its lease is out; a late job is nobody's
                // until it is looked for.
                let (now_ms, pause_ms) = (self.world.clock_ms(), as_ms(self.policy.lease + self.policy.skew));
                sweep.end_in_doubt(now_ms, pause_ms);
                work.end_in_doubt(now_ms, pause_ms);
            }
            Err(_) => {}
        }
        result
    }
}
