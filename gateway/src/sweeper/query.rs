//! Asks a queryable provider what became of a request, which sends nothing that can act.

use std::time::Duration;

use super::{Sweeper, backoff};
use crate::{
    points,
    policy::as_ms,
    provider::{Outbound, Sighting},
    store::{Reply, Slot, StoreError},
    world::BoxFuture,
};

/// How far a provider's index may be behind what it does: so long after the last request is dead, what it does not find
/// is no longer asked for.
const INDEX_LAG: Duration = Duration::from_secs(5 * 60);

/// However old a request is, it is asked for so often: a gateway that comes back late asks more than once, and a clock
/// that is ahead does not end the asking while the request may still act. The pauses between add up to two minutes.
const FEWEST_QUERIES: u32 = 8;

/// How long a provider that does not answer is asked: longer than that, and its answer would hardly come.
const LONGEST_SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// A query whose settle lease is ours.
struct Query {
    slot: Slot,
    reference: String,
    request: String,
    settle_token: i64,
    queries: u32,
    /// How long ago the last request that can act was begun, when this query took its lease.
    age_ms: i64,
    begun: Duration,
}

impl Sweeper {
    /// Takes the settle lease for one query, if one is due: the future is the rest of it.
    pub(super) async fn begin_query(&self) -> Result<Option<BoxFuture<()>>, StoreError> {
        let begun_ms = self.world.clock_ms();
        let begun = self.world.since_boot();
        let Reply::Query { slot, reference, request, settle_token, queries, last_request_ms } =
            self.ledger.begin_query().await?
        else {
            return Ok(None);
        };
        let age_ms = begun_ms.saturating_sub(last_request_ms);
        let query = Query { slot, reference, request, settle_token, queries, age_ms, begun };
        let sweeper = self.clone();
        Ok(Some(Box::pin(async move { sweeper.query(query).await })))
    }

    async fn query(&self, query: Query) {
        self.world.reach(points::BEFORE_QUERY).await;
        let sighting = match serde_json::from_str::<Outbound>(&query.request) {
            Ok(outbound) => self.provider.query(&outbound, &query.reference).await,
            Err(_) => Sighting::NotFound,
        };
        self.world.reach(points::AFTER_QUERY).await;
        match sighting {
            Sighting::Found { message_id } => {
                self.record(&query.slot, &query.reference, &message_id, query.begun).await;
                self.wakeups.settled(&query.slot);
            }
            Sighting::NotFound => self.look_again(&query, self.policy.dead_after() + INDEX_LAG).await,
            Sighting::NoAnswer => self.look_again(&query, LONGEST_SILENCE).await,
        }
    }

    /// Looks again after a growing pause, or, once the request is older than `limit`, no more: the record then stays
    /// unknown, for not finding a message settles nothing.
    async fn look_again(&self, query: &Query, limit: Duration) {
        let again_ms = self.world.clock_ms().saturating_add(as_ms(backoff(query.queries)));
        let is_hopeful = query.age_ms < as_ms(limit) || query.queries < FEWEST_QUERIES;
        let next_ask_ms = is_hopeful.then_some(again_ms);
        let _ = self.ledger.ask_later(&query.slot, query.settle_token, next_ask_ms).await;
    }
}
