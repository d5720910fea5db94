//! Step 3: `dispatching`, durably, before anything may leave (S10).

use std::time::Duration;

use super::{
    claim::{Claim, unexpected},
    pause::Pause,
    protocol::Protocol,
};
use crate::store::{Reply, State, StoreError};

/// What became of the mark.
pub(super) enum Marked {
    /// It is durable, and the first byte may leave before `deadline` ([`crate::world::World::since_boot`]).
    Yes { deadline: Duration },
    /// The claim is no longer ours.
    Lost,
    /// Nothing was written.
    StoreDown(StoreError),
    /// It may or may not be there, and could not be found out within the lease. Nothing will be dispatched.
    Unresolved,
}

/// What a fencing write found after an ambiguous mark.
enum Fenced {
    Marked,
    Unmarked,
    Lost,
    Unresolved,
}

impl Protocol {
    pub(super) async fn mark(&self, claim: &mut Claim, reference: &str, request: &str) -> Marked {
        loop {
            // Taken before the command: whatever time the store writes, the deadline is not later.
            let deadline = self.world.since_boot() + self.policy.send_deadline;
            let marked = self.ledger.mark(&claim.slot, claim.token, reference, request).await;
            match marked {
                Ok(Reply::Applied) => return Marked::Yes { deadline },
                Ok(Reply::Fenced { view: Some(view) })
                    if view.claim_id == claim.claim_id
                        && view.state == State::Claimed
                        && view.token != claim.token
                        && !self.is_past(claim.lease_end) =>
                {
                    // A fencing write of ours whose answer was lost has landed after all.
                    claim.token = view.token;
                }
                Ok(Reply::Fenced { .. }) => return Marked::Lost,
                Ok(reply) => return Marked::StoreDown(unexpected(&reply)),
                Err(StoreError::Ambiguous(_)) => match self.fence_mark(claim, reference).await {
                    Fenced::Marked => return Marked::Yes { deadline },
                    Fenced::Unmarked => {}
                    Fenced::Lost => return Marked::Lost,
                    Fenced::Unresolved => return Marked::Unresolved,
                },
                Err(error) => return Marked::StoreDown(error),
            }
        }
    }

    /// Finds out whether an ambiguous mark is there, by a write: after it a late mark is fenced, which no read could
    /// promise.
    async fn fence_mark(&self, claim: &mut Claim, reference: &str) -> Fenced {
        let mut pause = Pause::for_store();
        while !self.is_past(claim.lease_end) {
            match self.ledger.fence(&claim.slot, &claim.claim_id).await {
                Ok(Reply::Meets { view }) => {
                    claim.token = view.token;
                    let is_ours = view.reference.as_deref() == Some(reference);
                    return match view.state {
                        State::Dispatching if is_ours => Fenced::Marked,
                        State::Claimed => Fenced::Unmarked,
                        _ => Fenced::Unresolved,
                    };
                }
                Ok(_) => return Fenced::Lost,
                Err(_) => self.rest(&mut pause, claim.lease_end).await,
            }
        }
        Fenced::Unresolved
    }
}
