//! Sends that no record protects.

use bytes::Bytes;
use http::{HeaderValue, Response};

use super::{
    answers,
    protocol::{Protocol, SendRequest},
};
use crate::{
    hex,
    http::{Problem, UNPROTECTED},
    message::Order,
    metrics::Unprotected,
    points,
    provider::Outcome,
};

impl Protocol {
    /// A request without a key: nothing is recorded, and nothing else changes (S3).
    pub(super) async fn send_unprotected(&self, request: &SendRequest, why: Unprotected) -> Response<Bytes> {
        let order = match &request.order {
            Ok(order) => order,
            Err(error) => return answers::invalid(*error),
        };
        let reference = hex::random_id(&*self.world);
        let media_id = match self.hand_over(order, self.world.since_boot() + self.policy.lease).await {
            Ok(media_id) => media_id,
            Err(response) => return response,
        };
        let outbound = order.outbound(&reference, media_id.as_deref());
        let deadline = self.world.since_boot() + self.policy.send_deadline;
        let outcome = self.provider.dispatch(&outbound, &reference, deadline).await;
        self.world.reach(points::AFTER_DISPATCH).await;
        self.count_unprotected(order, &outcome, why);
        match outcome {
            Outcome::Success { message_id } => answers::first(&answers::made(order.made, &message_id)),
            Outcome::NotSent { why } => Problem::not_sent(&why).into_response(),
            Outcome::Refused(refusal) => answers::refused(&refusal),
            Outcome::Ambiguous { why, .. } => answers::unknown(&reference, &why),
        }
    }

    fn count_unprotected(&self, order: &Order, outcome: &Outcome, why: Unprotected) {
        if !matches!(outcome, Outcome::NotSent { .. }) {
            self.metrics.unprotected(why);
        }
        self.count_sent(order, outcome);
    }

    /// A request whose key cannot be looked up: sent all the same, and marked (S7, `ietf-gateway`).
    pub(super) async fn send_without_store(&self, request: &SendRequest) -> Response<Bytes> {
        let mut response = self.send_unprotected(request, Unprotected::StoreDown).await;
        response.headers_mut().insert(UNPROTECTED, HeaderValue::from_static("store-down"));
        response
    }
}
