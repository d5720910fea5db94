//! One row in one worker's hands, from its lease to what became of it.

use std::time::Duration;

use super::{
    backoff::backoff,
    courier::{self, Delivered},
    echo,
    foreman::Foreman,
    handler::{self, Plan},
};
use crate::{
    points,
    shutdown::Shutdown,
    store::{Done, Effect, EventKey, Failure, Reply, StoreError, Ticket, Work},
};

/// Between two tries to write what became of a row.
const WRITE_PAUSE: Duration = Duration::from_secs(1);

/// A leased row.
pub(super) struct Shift {
    gateway: Foreman,
    ticket: Ticket,
    attempt: u32,
}

/// What became of it.
struct Verdict {
    failure: Failure,
    pause: Option<Duration>,
    error: String,
}

impl Shift {
    pub(super) fn new(gateway: Foreman, ticket: Ticket, attempt: u32) -> Self {
        Self { gateway, ticket, attempt }
    }

    /// Works on the row while the lease is prolonged. A worker that has lost its lease stops: the row is another's, and
    /// whatever it would write is fenced. What a gateway that stops has not finished in time is handed back.
    pub(super) async fn work(self, work: Work, shutdown: &Shutdown) {
        if shutdown.is_asked() {
            return self.hand_back().await;
        }
        tokio::select! {
            biased;
            () = self.carry_out(work) => {}
            () = self.keep_the_lease() => {}
            () = shutdown.over() => self.hand_back().await,
        }
    }

    /// Ready for another worker at once, and this attempt does not count: nothing has failed. It is fenced by the lease, as
    /// everything that is written about the row, so that what was finished meanwhile stays finished. Tried once: where the
    /// store does not answer, the lease runs out.
    async fn hand_back(&self) {
        let why = "the gateway was stopped";
        let handed = self.gateway.ledger.fail(self.ticket, Failure::Postpone, Duration::ZERO, why).await;
        if let Err(error) = handed {
            tracing::warn!(%error, "a row is not handed back, and waits until its lease is out");
        }
    }

    async fn carry_out(&self, work: Work) {
        match work {
            Work::Job { key, payload } => self.handle(&key, &payload).await,
            Work::Send { effect } => self.send(&effect).await,
        }
    }

    async fn handle(&self, key: &EventKey, payload: &str) {
        self.gateway.world.reach(points::AFTER_LEASE).await;
        match handler::plan(key, payload) {
            Ok(Plan::Write(done)) => self.finish(done).await,
            Ok(Plan::Settle { reference, message_id }) => self.settle(&reference, &message_id).await,
            Err(error) => self.fail(Verdict { failure: Failure::Bury, pause: None, error }).await,
        }
    }

    async fn finish(&self, done: Done) {
        let world = &self.gateway.world;
        world.reach(points::BEFORE_COMPLETE).await;
        self.complete(done).await;
        world.reach(points::AFTER_COMPLETE).await;
    }

    /// An echo without a record waits for one, and once is enough.
    async fn settle(&self, reference: &str, message_id: &str) {
        loop {
            match echo::settle(&self.gateway, reference, message_id).await {
                Ok(false) if self.attempt == 1 => {
                    let error = "no record bears this reference yet".to_owned();
                    let verdict = Verdict { failure: Failure::Park, pause: Some(echo::KEPT), error };
                    return self.fail(verdict).await;
                }
                Ok(_) => return self.finish(Done::default()).await,
                Err(error) => self.rest(&error).await,
            }
        }
    }

    async fn send(&self, effect: &Effect) {
        let world = &self.gateway.world;
        world.reach(points::BEFORE_OUTBOX_SEND).await;
        let delivered = courier::deliver(&self.gateway.protocol, &self.gateway.numbers, effect).await;
        world.reach(points::AFTER_OUTBOX_SEND).await;
        if delivered.is_alarming() {
            tracing::error!(effect = effect.id, "the provider refuses this gateway's own token");
        }
        match delivered {
            Delivered::Yes => self.complete(Done::default()).await,
            Delivered::No { failure, pause, error } => self.fail(Verdict { failure, pause, error }).await,
        }
        world.reach(points::AFTER_OUTBOX_RECORD).await;
    }

    /// Written until the store says so: a repetition of a write that did land finds itself fenced.
    async fn complete(&self, done: Done) {
        let reply = loop {
            match self.gateway.ledger.complete(self.ticket, done.clone()).await {
                Ok(reply) => break reply,
                Err(error) => self.rest(&error).await,
            }
        };
        if reply == Reply::Applied {
            let now = self.gateway.world.since_boot();
            self.gateway.protocol.metrics.completed(self.ticket.queue, self.attempt, now);
        }
    }

    async fn fail(&self, verdict: Verdict) {
        let world = &self.gateway.world;
        world.reach(points::BEFORE_FAIL).await;
        let Verdict { failure, pause, error } = verdict;
        let pause = pause.unwrap_or_else(|| backoff(&**world, self.attempt));
        let reply = loop {
            match self.gateway.ledger.fail(self.ticket, failure, pause, &error).await {
                Ok(reply) => break reply,
                Err(error) => self.rest(&error).await,
            }
        };
        if reply == Reply::Applied && failure.is_final(self.attempt) {
            self.gateway.protocol.metrics.buried(self.ticket.queue, 1);
        }
    }

    async fn rest(&self, error: &StoreError) {
        tracing::debug!(%error, "what became of a row is not written yet");
        self.gateway.world.sleep(WRITE_PAUSE).await;
    }

    /// Ready once the lease is lost: to another worker, or to a store that was not heard of for as long as it lasts.
    async fn keep_the_lease(&self) {
        let Foreman { world, ledger, protocol, .. } = &self.gateway;
        let mut end = world.since_boot() + protocol.policy.lease;
        loop {
            world.sleep(protocol.policy.heartbeat).await;
            world.reach(points::BEFORE_HEARTBEAT).await;
            let begun = world.since_boot();
            match ledger.heartbeat(self.ticket).await {
                Ok(Reply::Applied) => end = begun + protocol.policy.lease,
                Ok(_) => return,
                Err(_) if world.since_boot() >= end => return,
                Err(_) => {}
            }
        }
    }
}
