//! Step 2: the key becomes ours, by one atomic insert.

use std::time::Duration;

use super::{
    pause::Pause,
    protocol::{Protocol, SendRequest},
};
use crate::{
    hex, points,
    store::{Reply, Slot, State, StoreError, View},
};

/// The key is ours until the lease ends or somebody takes over.
pub(super) struct Claim {
    pub(super) slot: Slot,
    pub(super) claim_id: String,
    pub(super) token: i64,
    /// In [`crate::world::World::since_boot`].
    pub(super) lease_end: Duration,
}

/// What the store says to a claim.
pub(super) enum Claiming {
    /// It is ours.
    Won(Claim),
    /// The same content is there already.
    Met(View),
    /// Other content is there.
    Mismatch,
    /// Nothing is there, and the request is not valid.
    Inadmissible,
    /// The store does not answer.
    StoreDown(StoreError),
}

/// A try whose answer was lost, so that its row may be there now or later.
struct Lost {
    claim_id: String,
    lease_end: Duration,
}

impl Protocol {
    /// Claims the key. An insert whose COMMIT is ambiguous has no row to fence: another is made with a new claim id,
    /// and if that meets the row of an earlier one, the row is taken with a fencing write.
    pub(super) async fn claim(&self, slot: &Slot, request: &SendRequest) -> Claiming {
        let mut lost: Vec<Lost> = Vec::new();
        let mut pause = Pause::for_store();
        let until = self.patience();
        self.world.reach(points::BEFORE_CLAIM).await;
        loop {
            let claim_id = hex::random_id(&*self.world);
            let lease_end = self.world.since_boot() + self.policy.lease;
            let admissible = request.order.is_ok();
            let claimed = self.ledger.claim(slot, &request.fingerprint, &claim_id, admissible).await;
            let error = match claimed {
                Ok(Reply::Claimed { token }) => {
                    return Claiming::Won(Claim { slot: slot.clone(), claim_id, token, lease_end });
                }
                Ok(Reply::Meets { view }) => match lost.iter().find(|lost| lost.claim_id == view.claim_id) {
                    None => return Claiming::Met(view),
                    Some(ours) => match self.take_own(slot, ours).await {
                        Ok(Some(claiming)) => return claiming,
                        Ok(None) => None,
                        Err(error) => Some(error),
                    },
                },
                Ok(Reply::Mismatch { .. }) => return Claiming::Mismatch,
                Ok(Reply::Absent) => return Claiming::Inadmissible,
                Ok(reply) => return Claiming::StoreDown(unexpected(&reply)),
                Err(error @ StoreError::Ambiguous(_)) => {
                    lost.push(Lost { claim_id, lease_end });
                    Some(error)
                }
                Err(error) => return Claiming::StoreDown(error),
            };
            if self.is_past(until) {
                let late = || StoreError::Unreached("the key could not be claimed in time".into());
                return Claiming::StoreDown(error.unwrap_or_else(late));
            }
            self.rest(&mut pause, until).await;
        }
    }

    /// Takes the row that a try of this very request left; `None` where it is gone again.
    async fn take_own(&self, slot: &Slot, ours: &Lost) -> Result<Option<Claiming>, StoreError> {
        match self.ledger.fence(slot, &ours.claim_id).await? {
            Reply::Meets { view } if view.state == State::Claimed => Ok(Some(Claiming::Won(Claim {
                slot: slot.clone(),
                claim_id: view.claim_id,
                token: view.token,
                lease_end: ours.lease_end,
            }))),
            Reply::Meets { view } => Ok(Some(Claiming::Met(view))),
            _ => Ok(None),
        }
    }
}

/// A reply that no command of this kind has.
pub(super) fn unexpected(reply: &Reply) -> StoreError {
    StoreError::Refused(format!("unexpected reply {reply:?}"))
}
