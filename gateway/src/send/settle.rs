//! Step 5: the outcome becomes durable, and only then leaves.

use bytes::Bytes;
use http::{Response, StatusCode};

use super::{answers, caller::Caller, claim::Claim, orphan::report_orphan, pause::Pause, protocol::Protocol};
use crate::{
    http::Problem,
    points,
    policy::Ambiguous,
    store::{Reply, State, StoreError, StoredAnswer, View},
};

/// What became of giving the key back.
enum Freed {
    /// The record of this claim is gone.
    Gone,
    /// A re-ask was begun, or its proof is there already: only that settles the record.
    Kept(View),
    /// The store never answered.
    GivenUp,
}

impl Protocol {
    /// Records a definite answer, which proves its record `done` whoever holds the lease. Recording the same again
    /// changes nothing, so an ambiguous COMMIT is simply repeated. Past the caller's patience they hear 504, and the
    /// recording goes on for as long as an answer is kept at all.
    pub(super) async fn record(
        &self,
        claim: &Claim,
        reference: &str,
        answer: &StoredAnswer,
        mut caller: Caller,
    ) {
        let until = self.patience();
        let give_up = self.world.since_boot() + self.policy.ttl_of(&claim.slot.scope);
        let mut pause = Pause::for_store();
        while !self.is_past(give_up) {
            match self.ledger.done(&claim.slot, reference, answer).await {
                Ok(Reply::Applied) => {
                    self.wakeups.settled(&claim.slot);
                    self.world.reach(points::AFTER_RECORD).await;
                    return caller.answer(answers::first(answer));
                }
                Ok(reply) => {
                    report_orphan(&reply, reference, answer);
                    self.wakeups.settled(&claim.slot);
                    return caller.answer(superseded(&reply, reference));
                }
                Err(_) if self.is_past(until) => caller.answer(unrecorded(reference)),
                Err(_) => {}
            }
            self.rest(&mut pause, until).await;
        }
        caller.answer(unrecorded(reference));
    }

    /// Gives the key back after an outcome that is definitely no effect, then answers.
    pub(super) async fn release(
        &self,
        claim: Claim,
        reference: &str,
        response: Response<Bytes>,
        mut caller: Caller,
    ) {
        let slot = claim.slot.clone();
        let response = match self.free(claim, reference, &mut caller).await {
            Freed::Gone => response,
            Freed::Kept(view) => answers::repeated(&view),
            Freed::GivenUp => unrecorded(reference),
        };
        self.wakeups.settled(&slot);
        self.world.reach(points::AFTER_RECORD).await;
        caller.answer(response);
    }

    /// Gives the key back for a caller who knows already that nothing was sent.
    pub(super) async fn let_go(&self, claim: Claim, reference: &str, mut caller: Caller) {
        let slot = claim.slot.clone();
        self.free(claim, reference, &mut caller).await;
        self.wakeups.settled(&slot);
    }

    /// Releases, fenced. An ambiguous release is resolved by a fencing write, conditional on the claim id; if the
    /// row is still there it is released again with the new token.
    async fn free(&self, mut claim: Claim, reference: &str, caller: &mut Caller) -> Freed {
        let until = self.patience();
        let give_up = self.world.since_boot() + self.policy.ttl_of(&claim.slot.scope);
        let mut pause = Pause::for_store();
        let mut is_ambiguous = false;
        while !self.is_past(give_up) {
            let reply = match is_ambiguous {
                true => self.ledger.fence(&claim.slot, &claim.claim_id).await,
                false => self.ledger.release(&claim.slot, claim.token).await,
            };
            match reply {
                Ok(Reply::Meets { view }) if is_open(&view) => {
                    claim.token = view.token;
                    is_ambiguous = false;
                    continue;
                }
                Ok(Reply::Fenced { view: Some(view) } | Reply::Meets { view })
                    if view.claim_id == claim.claim_id =>
                {
                    if view.token == claim.token || !is_open(&view) {
                        return Freed::Kept(view);
                    }
                    // A fencing write of ours whose answer was lost has landed after all.
                    claim.token = view.token;
                    continue;
                }
                Ok(_) => return Freed::Gone,
                Err(StoreError::Ambiguous(_)) => is_ambiguous = true,
                Err(_) => {}
            }
            if self.is_past(until) {
                caller.answer(unrecorded(reference));
            }
            self.rest(&mut pause, until).await;
        }
        Freed::GivenUp
    }

    /// Records that the outcome cannot be told. If the store does not hear of it, the lapse of the lease says the same.
    pub(super) async fn leave_unknown(
        &self,
        mut claim: Claim,
        reference: &str,
        why: &str,
    ) -> Response<Bytes> {
        let until = self.patience();
        let mut pause = Pause::for_store();
        let mut response = answers::unknown(reference, why);
        while !self.is_past(until) {
            match self.ledger.unknown(&claim.slot, claim.token).await {
                Ok(Reply::Fenced { view: Some(view) }) if view.claim_id == claim.claim_id => {
                    if view.state == State::Dispatching && view.token != claim.token {
                        // A fencing write of ours whose answer was lost has landed after all.
                        claim.token = view.token;
                        continue;
                    }
                    response = answers::repeated(&view);
                    break;
                }
                Ok(_) => break,
                Err(_) => self.rest(&mut pause, until).await,
            }
        }
        self.wakeups.settled(&claim.slot);
        self.world.reach(points::AFTER_RECORD).await;
        response
    }

    /// The answer as which an ambiguous outcome is stored, where the policy stores it (S6).
    pub(super) fn as_stored(&self, reference: &str, why: &str, is_answered: bool) -> Option<StoredAnswer> {
        let status = match is_answered {
            true => StatusCode::BAD_GATEWAY,
            false => StatusCode::GATEWAY_TIMEOUT,
        };
        match self.policy.ambiguous {
            Ambiguous::Unknown => None,
            Ambiguous::StoreAndReplay => Some(Problem::outcome_unknown(status, reference, why).to_stored()),
        }
    }
}

fn is_open(view: &View) -> bool {
    matches!(view.state, State::Claimed | State::Dispatching | State::Unknown)
}

/// The record says something else than what was to be recorded: if that is a definite answer to the same claim, it is
/// the caller's; else the effect is there without a record.
fn superseded(reply: &Reply, reference: &str) -> Response<Bytes> {
    match reply {
        Reply::Fenced { view: Some(view) } if view.reference.as_deref() == Some(reference) => {
            answers::repeated(view)
        }
        _ => answers::unknown(reference, "the record of this send was lost"),
    }
}

fn unrecorded(reference: &str) -> Response<Bytes> {
    answers::unknown(reference, "the outcome could not be recorded in time")
}
