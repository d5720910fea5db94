//! The file of a message, at the provider before the message is (S8). It is no effect: whatever goes wrong here,
//! nothing was sent.

use std::time::Duration;

use bytes::Bytes;
use http::Response;

use super::{answers, protocol::Protocol};
use crate::{http::Problem, message::Order, provider::Outcome};

impl Protocol {
    /// The provider's id of the file, if there is one. It has to be there before `until`, which is the end of the lease:
    /// past it the mark would find the key in other hands.
    pub(super) async fn hand_over(
        &self,
        order: &Order,
        until: Duration,
    ) -> Result<Option<String>, Response<Bytes>> {
        let Some(attachment) = order.attachment() else {
            return Ok(None);
        };
        let limit = until.saturating_sub(self.world.since_boot());
        match self.provider.upload(attachment, limit).await {
            Ok(id) => Ok(Some(id)),
            Err(Outcome::Refused(refusal)) => Err(answers::refused(&refusal)),
            Err(Outcome::NotSent { why } | Outcome::Ambiguous { why, .. }) => {
                Err(Problem::not_sent(&why).into_response())
            }
            Err(Outcome::Success { .. }) => Err(Problem::not_sent("the file has no id").into_response()),
        }
    }
}
