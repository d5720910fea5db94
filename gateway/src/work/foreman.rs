//! Leases what is due and has it worked on, a few at a time. It sleeps until the store knows of something due, or until
//! woken by what this gateway itself receives: idle time costs nothing.

use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use super::{courier::Numbers, shift::Shift};
use crate::{
    alarm::Alarm,
    ledger::Ledger,
    metrics::Retried,
    send::Protocol,
    shutdown::Shutdown,
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
    /// Works until it is asked to stop; then leases nothing more, and returns once what is in hand is done or handed back.
    /// The first look is at once: what an earlier life of this host left behind is in the store.
    pub(crate) async fn run(self, shutdown: Shutdown) {
        let workers = self.protocol.policy.workers;
        let Ok(most) = u32::try_from(workers) else { return };
        let free = Arc::new(Semaphore::new(workers));
        self.lead(&free, &shutdown).await;
        // Whoever holds a permit is at work.
        let _ = free.acquire_many(most).await;
    }

    async fn lead(&self, free: &Arc<Semaphore>, shutdown: &Shutdown) {
        let mut rest = SHORTEST_REST;
        // None at all, or closed: nothing is ever worked on.
        while let Some(Ok(permit)) = shutdown.unless_asked(free.clone().acquire_owned()).await {
            self.alarm.clear(self.world.clock_ms());
            // Never given up for a shutdown: a lease of which nobody heard would keep its row for as long as it lasts.
            let leased = self.ledger.lease_work().await;
            rest = match leased {
                Ok(Reply::Event(EventReply::Leased { ticket, attempt, work })) => {
                    if attempt > 1 {
                        self.protocol.metrics.retried(Retried::Row(ticket.queue));
                    }
                    let shift = Shift::new(self.clone(), ticket, attempt);
                    let shutdown = shutdown.clone();
                    self.world.spawn(Box::pin(async move {
                        shift.work(work, &shutdown).await;
                        drop(permit);
                    }));
                    SHORTEST_REST
                }
                Ok(Reply::Event(EventReply::Buried { jobs, outbox })) => {
                    self.protocol.metrics.buried(Queue::Job, jobs);
                    self.protocol.metrics.buried(Queue::Outbox, outbox);
                    rest
                }
                Ok(_) => {
                    drop(permit);
                    shutdown.unless_asked(self.alarm.sleep_until_due(&*self.world)).await;
                    SHORTEST_REST
                }
                Err(_) => {
                    drop(permit);
                    shutdown.unless_asked(self.world.sleep(rest)).await;
                    (rest * 2).min(LONGEST_REST)
                }
            };
        }
    }
}
