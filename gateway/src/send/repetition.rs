//! What a repetition meets: the wait for the first, and the answers to every state of its record.

use std::time::Duration;

use http::StatusCode;

use super::{
    answers,
    claim::Claiming,
    pause::Pause,
    protocol::{Obtained, Protocol, SendRequest},
};
use crate::{
    http::Problem,
    store::{Reply, Slot, State, View},
};

/// How a wait ended.
enum Waited {
    /// The record left `claimed` and `dispatching`.
    Settled(View),
    /// The claim that was met is no longer there: whatever is there now has to be claimed or compared anew.
    Gone,
    /// The first still runs.
    TooLong,
}

impl Protocol {
    /// Makes the key ours, or finds the response that somebody else's claim leads to. The fingerprint is compared
    /// before any wait, and again whenever another claim is met (S4).
    pub(super) async fn obtain(&self, slot: &Slot, request: &SendRequest) -> Obtained {
        let until = self.world.since_boot() + self.policy.in_flight_wait;
        loop {
            let met = match self.claim(slot, request).await {
                Claiming::Won(claim) => return Obtained::Claim(claim),
                Claiming::Met(view) => view,
                Claiming::Mismatch => return Obtained::Response(answers::mismatch()),
                Claiming::Inadmissible => {
                    return Obtained::Response(answers::inadmissible(request));
                }
                Claiming::StoreDown(error) => return Obtained::StoreDown(error),
            };
            let settled = match met.state {
                State::Claimed | State::Dispatching => self.wait(slot, &met.claim_id, until).await,
                State::Unknown | State::Done | State::Tombstone => Waited::Settled(met),
            };
            match settled {
                Waited::Settled(view) => return Obtained::Response(answers::repeated(&view)),
                Waited::TooLong => return Obtained::Response(in_flight()),
                Waited::Gone => {}
            }
        }
    }

    /// Waits for the claim that was met: this process wakes its own waiters, and a poll with a growing pause sees
    /// what other gateways do.
    async fn wait(&self, slot: &Slot, claim_id: &str, until: Duration) -> Waited {
        let waiter = self.wakeups.waiter(slot);
        let mut pause = Pause::growing(Duration::from_millis(100), Duration::from_secs(1));
        loop {
            let left = until.saturating_sub(self.world.since_boot());
            if left.is_zero() {
                return Waited::TooLong;
            }
            tokio::select! {
                biased;
                () = waiter.notify.notified() => {}
                () = self.world.sleep(pause.next().min(left)) => {}
            }
            match self.ledger.read(slot).await {
                Ok(Reply::Meets { view }) if view.claim_id != claim_id => return Waited::Gone,
                Ok(Reply::Meets { view }) if is_in_flight(&view) => {}
                Ok(Reply::Meets { view }) => return Waited::Settled(view),
                Ok(_) => return Waited::Gone,
                // The next look may succeed; the wait is bounded all the same.
                Err(_) => {}
            }
        }
    }
}

fn is_in_flight(view: &View) -> bool {
    matches!(view.state, State::Claimed | State::Dispatching)
}

fn in_flight() -> http::Response<bytes::Bytes> {
    let why = "a request with this key is still being handled";
    Problem::new(StatusCode::CONFLICT, "in-flight", why).retry_after("1").into_response()
}
