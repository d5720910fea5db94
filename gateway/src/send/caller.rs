//! Whoever waits for the response of a send, which goes on without them if need be.

use bytes::Bytes;
use http::Response;
use tokio::sync::oneshot;

/// Answered at most once; what comes later is for nobody.
pub(super) struct Caller {
    waiting: Option<oneshot::Sender<Response<Bytes>>>,
}

impl Caller {
    pub(super) fn new() -> (Self, oneshot::Receiver<Response<Bytes>>) {
        let (sender, receiver) = oneshot::channel();
        let caller = Self { waiting: Some(sender) };
        (caller, receiver)
    }

    pub(super) fn answer(&mut self, response: Response<Bytes>) {
        if let Some(waiting) = self.waiting.take() {
            // A caller that has hung up changes nothing.
            let _ = waiting.send(response);
        }
    }
}
