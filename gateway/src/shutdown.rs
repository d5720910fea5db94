//! The end of a gateway: it takes nothing more, finishes what is in hand within a bound, and hands back the rest.

use std::{future::Future, time::Duration};

use tokio::sync::watch;

use crate::world::SharedWorld;

/// What every part of a gateway hears of its end.
#[derive(Clone)]
pub(crate) struct Shutdown {
    asked: watch::Receiver<bool>,
    over: watch::Receiver<bool>,
}

impl Shutdown {
    /// `asked` says when it begins; `drain` later what is in hand has had its time.
    pub(crate) fn new(world: &SharedWorld, asked: watch::Receiver<bool>, drain: Duration) -> Self {
        let (end, over) = watch::channel(false);
        let (world_in, mut begin) = (world.clone(), asked.clone());
        world.spawn(Box::pin(async move {
            told(&mut begin).await;
            world_in.sleep(drain).await;
            end.send_replace(true);
        }));
        Self { asked, over }
    }

    /// Of a gateway that nobody stops.
    #[cfg(test)]
    pub(crate) fn never() -> Self {
        let (asked, over) = (watch::channel(false).1, watch::channel(false).1);
        Self { asked, over }
    }

    /// Whether nothing more is to be taken.
    pub(crate) fn is_asked(&self) -> bool {
        *self.asked.borrow()
    }

    /// Ready once nothing more is to be taken.
    pub(crate) async fn asked(&self) {
        told(&mut self.asked.clone()).await;
    }

    /// What is waited for, or `None` once nothing more is to be taken.
    pub(crate) async fn unless_asked<F: Future>(&self, awaited: F) -> Option<F::Output> {
        tokio::select! {
            biased;
            () = self.asked() => None,
            output = awaited => Some(output),
        }
    }

    /// Ready once what is not finished is to be handed back.
    pub(crate) async fn over(&self) {
        told(&mut self.over.clone()).await;
    }
}

/// Ready once the flag holds `true`; never, where nobody can say so any more.
pub(crate) async fn told(flag: &mut watch::Receiver<bool>) {
    if flag.wait_for(|is_told| *is_told).await.is_err() {
        std::future::pending().await
    }
}
