//! Asks a keyed provider again, with the same key and the stored request.

use std::time::Duration;

use super::{SHORTEST_REST, Sweeper, backoff};
use crate::{
    metrics::content_of_stored,
    points,
    policy::as_ms,
    provider::{Outbound, Outcome},
    store::{Reply, Slot, StoreError},
    world::BoxFuture,
};

/// A re-ask that is durably begun.
struct Ask {
    slot: Slot,
    reference: String,
    request: String,
    settle_token: i64,
    asks: u32,
    is_alone: bool,
    /// This host's clocks just before it was begun.
    begun_ms: i64,
    begun: Duration,
}

impl Sweeper {
    /// Begins one re-ask, if one is due: the future is the rest of it.
    pub(super) async fn begin_ask(
        &self,
        retention: Option<Duration>,
    ) -> Result<Option<BoxFuture<()>>, StoreError> {
        let begun_ms = self.world.clock_ms();
        let begun = self.world.since_boot();
        let Reply::Ask { slot, reference, request, settle_token, asks, alone } =
            self.ledger.begin_ask(retention).await?
        else {
            return Ok(None);
        };
        let ask = Ask { slot, reference, request, settle_token, asks, is_alone: alone, begun_ms, begun };
        let sweeper = self.clone();
        Ok(Some(Box::pin(async move { sweeper.ask(ask).await })))
    }

    async fn ask(&self, ask: Ask) {
        self.world.reach(points::BEFORE_REASK).await;
        let outcome = match serde_json::from_str::<Outbound>(&ask.request) {
            Ok(outbound) => {
                let deadline = ask.begun + self.policy.send_deadline;
                let outcome = self.provider.dispatch(&outbound, &ask.reference, deadline).await;
                self.count_sent(&ask.slot, &outbound, &outcome);
                outcome
            }
            Err(error) => Outcome::NotSent { why: error.to_string() },
        };
        self.world.reach(points::AFTER_REASK).await;
        self.settle(&ask, outcome).await;
        self.wakeups.settled(&ask.slot);
    }

    /// Watches for a message that goes out twice (M2).
    fn count_sent(&self, slot: &Slot, outbound: &Outbound, outcome: &Outcome) {
        if let (Outcome::Success { message_id }, Some(content)) = (outcome, content_of_stored(slot, outbound))
        {
            self.metrics.went_out(content, message_id, self.world.since_boot());
        }
    }

    /// A success settles. A definite refusal does only where every earlier request was dead when this one took its
    /// lease: had one of them acted, the provider would have replayed it. Whatever the store does not hear of, the next
    /// re-ask finds out again, once the settle lease is out.
    async fn settle(&self, ask: &Ask, outcome: Outcome) {
        let later = match outcome {
            Outcome::Success { message_id } => {
                return self.record(&ask.slot, &ask.reference, &message_id, ask.begun).await;
            }
            Outcome::Refused(_) if ask.is_alone => {
                let _ = self.ledger.release_asked(&ask.slot, ask.settle_token).await;
                return;
            }
            // Only a re-ask that begins after this one is dead can be alone, and only that can settle a refusal. The
            // store wrote the beginning down a little later than it was taken here.
            Outcome::Refused(_) => self.policy.dead_after() + SHORTEST_REST,
            Outcome::NotSent { .. } | Outcome::Ambiguous { .. } => Duration::ZERO,
        };
        let now_ms = self.world.clock_ms();
        let next_ask_ms =
            now_ms.saturating_add(as_ms(backoff(ask.asks))).max(ask.begun_ms.saturating_add(as_ms(later)));
        let _ = self.ledger.ask_later(&ask.slot, ask.settle_token, Some(next_ask_ms)).await;
    }
}
