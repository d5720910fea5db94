//! Steps 3 to 5 of a claim that is ours.

use super::{
    answers,
    caller::Caller,
    claim::Claim,
    mark::Marked,
    protocol::{Protocol, SendRequest},
};
use crate::{hex, http::Problem, message::Order, metrics::content_of, points, provider::Outcome};

impl Protocol {
    pub(super) async fn attempt(
        &self,
        mut claim: Claim,
        request: &SendRequest,
        order: &Order,
        mut caller: Caller,
    ) {
        self.world.reach(points::AFTER_CLAIM).await;
        let reference = hex::random_id(&*self.world);
        // Before the mark: a file at the provider is no effect, and where this fails nothing was sent.
        let media_id = match self.hand_over(order, claim.lease_end).await {
            Ok(media_id) => media_id,
            Err(response) => {
                caller.answer(response);
                return self.let_go(claim, &reference, caller).await;
            }
        };
        let outbound = order.outbound(&reference, media_id.as_deref());
        let stored = match serde_json::to_string(&outbound) {
            Ok(stored) => stored,
            Err(error) => {
                caller.answer(Problem::not_sent(&error.to_string()).into_response());
                return self.let_go(claim, &reference, caller).await;
            }
        };
        match self.mark(&mut claim, &reference, &stored).await {
            Marked::Yes { deadline } => {
                self.world.reach(points::AFTER_MARK).await;
                let outcome = self.provider.dispatch(&outbound, &reference, deadline).await;
                self.world.reach(points::AFTER_DISPATCH).await;
                self.count_sent(order, &outcome);
                self.settle(claim, &reference, outcome, caller).await;
            }
            Marked::Lost => {
                self.wakeups.settled(&claim.slot);
                caller.answer(Problem::not_sent("another claim took the key over").into_response());
            }
            Marked::StoreDown(error) => {
                // No mark is durable, so that nothing will ever be asked or sent for this claim.
                caller.answer(self.without_store(request, &error).await);
                self.let_go(claim, &reference, caller).await;
            }
            Marked::Unresolved => {
                // Never unprotected, whatever the policy (S7): a mark that is durable after all becomes `unknown`, and
                // a keyed provider is then asked again under its reference, which an unprotected send does not bear.
                // That would be a second message without any repetition.
                let why = "the store did not confirm in time, and nothing was sent";
                caller.answer(Problem::store_unavailable(why).into_response());
                self.let_go(claim, &reference, caller).await;
            }
        }
    }

    /// Watches for a message that goes out twice (M2).
    pub(super) fn count_sent(&self, order: &Order, outcome: &Outcome) {
        if let (Outcome::Success { message_id }, Some(content)) = (outcome, content_of(order)) {
            self.metrics.went_out(content, message_id, self.world.since_boot());
        }
    }

    async fn settle(&self, claim: Claim, reference: &str, outcome: Outcome, mut caller: Caller) {
        match outcome {
            Outcome::Success { message_id } => {
                let answer = answers::sent(&claim.slot, &message_id);
                self.record(&claim, reference, &answer, caller).await;
            }
            Outcome::NotSent { why } => {
                let response = Problem::not_sent(&why).into_response();
                self.release(claim, reference, response, caller).await;
            }
            Outcome::Refused(refusal) => {
                let response = answers::refused(&refusal);
                self.release(claim, reference, response, caller).await;
            }
            Outcome::Ambiguous { why, is_answered } => match self.as_stored(reference, &why, is_answered) {
                Some(answer) => self.record(&claim, reference, &answer, caller).await,
                None => caller.answer(self.leave_unknown(claim, reference, &why).await),
            },
        }
    }
}
