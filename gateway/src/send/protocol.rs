//! The way of one send, from the parsed request to the response.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Response, StatusCode};

use super::{Wakeups, caller::Caller, claim::Claim, pause::Pause};
use crate::{
    http::Problem,
    ledger::Ledger,
    message::{MessageError, Order},
    metrics::{Asker, Metrics, Unprotected},
    policy::{Policy, StoreDown},
    provider::WhatsApp,
    store::{Slot, StoreError},
    world::SharedWorld,
};

/// What a send needs from the gateway.
pub(crate) struct Protocol {
    pub(crate) world: SharedWorld,
    pub(crate) ledger: Ledger,
    pub(crate) policy: Arc<Policy>,
    pub(crate) provider: Arc<WhatsApp>,
    pub(crate) wakeups: Arc<Wakeups>,
    pub(crate) metrics: Metrics,
}

/// A request that is authentic, and whose key and body could be read.
pub(crate) struct SendRequest {
    /// Who asks.
    pub(crate) asker: Asker,
    /// The key in its scope; `None` leaves the send unprotected (S3).
    pub(crate) slot: Option<Slot>,
    /// Of the body.
    pub(crate) fingerprint: String,
    /// What the provider is to be asked. Being invalid counts for a fresh claim only: a stricter release must not turn a replay
    /// into a 400.
    pub(crate) order: Result<Order, MessageError>,
}

/// What became of trying to own the key.
pub(super) enum Obtained {
    /// It is ours.
    Claim(Claim),
    /// It is not, and this is the response.
    Response(Response<Bytes>),
    /// Nobody can tell: the store does not answer.
    StoreDown(StoreError),
}

impl Protocol {
    /// Sends, in a task of its own: a caller that hangs up cancels nothing.
    pub(crate) async fn send(self: Arc<Self>, request: SendRequest) -> Response<Bytes> {
        let world = self.world.clone();
        let (caller, response) = Caller::new(world.clone(), self.metrics.clone(), request.asker);
        world.spawn(Box::pin(async move { self.run(request, caller).await }));
        response.await.unwrap_or_else(|_| {
            let why = "the send was cut off, and may have been made";
            Problem::new(StatusCode::GATEWAY_TIMEOUT, "outcome-unknown", why).into_response()
        })
    }

    async fn run(&self, request: SendRequest, mut caller: Caller) {
        let Some(slot) = &request.slot else {
            return caller.answer(self.send_unprotected(&request, Unprotected::NoKey).await);
        };
        match self.obtain(slot, &request).await {
            Obtained::Response(response) => caller.answer(response),
            Obtained::StoreDown(error) => caller.answer(self.without_store(&request, &error).await),
            Obtained::Claim(claim) => match &request.order {
                Ok(order) => self.attempt(claim, &request, order, caller).await,
                // A store that claims for an inadmissible request: its claim lapses by itself.
                Err(error) => caller.answer(super::answers::invalid(*error)),
            },
        }
    }

    /// What the policy says of a send whose key the store cannot protect, nothing having left (S7).
    pub(super) async fn without_store(&self, request: &SendRequest, error: &StoreError) -> Response<Bytes> {
        match self.policy.store_down {
            StoreDown::Refuse => Problem::store_unavailable(error).into_response(),
            StoreDown::SendUnprotected => self.send_without_store(request).await,
        }
    }

    /// Whether a time of this host's boot clock has come.
    pub(super) fn is_past(&self, time: Duration) -> bool {
        self.world.since_boot() >= time
    }

    /// Pauses before the next try, but not past the time at which a caller has to be answered.
    pub(super) async fn rest(&self, pause: &mut Pause, until: Duration) {
        let left = until.saturating_sub(self.world.since_boot());
        let pause = pause.next();
        let shortened = match left.is_zero() {
            true => pause,
            false => pause.min(left),
        };
        self.world.sleep(shortened).await;
    }

    /// When the caller's patience ends, counted from now.
    pub(super) fn patience(&self) -> Duration {
        self.world.since_boot() + self.policy.caller_patience
    }
}
