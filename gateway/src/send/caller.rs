//! Whoever waits for the response of a send, which goes on without them if need be.

use bytes::Bytes;
use http::Response;
use tokio::sync::oneshot;

use crate::{
    http::REPLAY,
    metrics::{Asker, Metrics},
    world::SharedWorld,
};

/// Answered at most once; what comes later is for nobody. The answer is counted, whoever still waits for it (M1).
pub(super) struct Caller {
    waiting: Option<oneshot::Sender<Response<Bytes>>>,
    world: SharedWorld,
    metrics: Metrics,
    asker: Asker,
}

impl Caller {
    pub(super) fn new(
        world: SharedWorld,
        metrics: Metrics,
        asker: Asker,
    ) -> (Self, oneshot::Receiver<Response<Bytes>>) {
        let (sender, receiver) = oneshot::channel();
        let caller = Self { waiting: Some(sender), world, metrics, asker };
        (caller, receiver)
    }

    pub(super) fn answer(&mut self, response: Response<Bytes>) {
        if let Some(waiting) = self.waiting.take() {
            let is_replay = response.headers().contains_key(REPLAY);
            self.metrics.sent(self.asker, is_replay, self.world.since_boot());
            // A caller that has hung up changes nothing.
            let _ = waiting.send(response);
        }
    }
}
