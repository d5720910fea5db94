//! Leases what is due and has it worked on, a few at a time. It sleeps until the store knows of something due, or until
//! woken by what this gateway itself receives: idle time costs nothing.

use std::{sync::Arc, time::Duration};

use tokio::sync::{Semaphore, watch};

use super::{courier::Numbers, shift::Shift};
use crate::{
    alarm::Alarm,
    ledger::Ledger,
    metrics::Retried,
    send::Protocol,
    store::{EventReply, Queue, Reply},
    world::SharedWorld,
};

/// The first pause between two tries of a store that fails; it doubles to [`LONGEST_REST`].
const SHORTEST_REST: Duration = Duration::from_secs(1);

/// The longest.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// What the workers need from the gateway.
#[derive(Clone)]
pub(crate) struct Foreman {
    pub(crate) world: SharedWorld,
    pub(crate) ledger: Ledger,
    pub(crate) alarm: Arc<Alarm>,
    pub(crate) protocol: Arc<Protocol>,
    pub(crate) numbers: Numbers,
}

impl Foreman {
    /// Works until `stop` holds `true`; then leases nothing more, and returns once what is in hand is done. The first look
    /// is at once: what an earlier life of this host left behind is in the store.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        let workers = self.protocol.policy.workers;
        let Ok(most) = u32::try_from(workers) else { return };
        let free = Arc::new(Semaphore::new(workers));
        tokio::select! {
            biased;
            () = stopped(&mut stop) => {}
            () = self.lead(&free) => {}
        }
        // Whoever holds a permit is at work.
        let _ = free.acquire_many(most).await;
    }

    async fn lead(&self, free: &Arc<Semaphore>) {
        let mut rest = SHORTEST_REST;
        // None at all, or closed: nothing is ever worked on.
        while let Ok(permit) = free.clone().acquire_owned().await {
            self.alarm.clear(self.world.clock_ms());
            match self.ledger.lease_work().await {
                Ok(Reply::Event(EventReply::Leased { ticket, attempt, work })) => {
                    rest = SHORTEST_REST;
                    if attempt > 1 {
                        self.protocol.metrics.retried(Retried::Row(ticket.queue));
                    }
                    let shift = Shift::new(self.clone(), ticket, attempt);
                    self.world.spawn(Box::pin(async move {
                        shift.work(work).await;
                        drop(permit);
                    }));
                }
                Ok(Reply::Event(EventReply::Buried { jobs, outbox })) => {
                    self.protocol.metrics.buried(Queue::Job, jobs);
                    self.protocol.metrics.buried(Queue::Outbox, outbox);
                }
                Ok(_) => {
                    rest = SHORTEST_REST;
                    drop(permit);
                    self.alarm.sleep_until_due(&*self.world).await;
                }
                Err(_) => {
                    drop(permit);
                    self.world.sleep(rest).await;
                    rest = (rest * 2).min(LONGEST_REST);
                }
            }
        }
    }
}

/// Ready once the gateway is to stop; never, where nobody can say so any more.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending().await
    }
}
