//! Ends connections on which nothing is being handled: a peer that never finishes its head holds nothing for long.

use std::time::Duration;

use tokio::sync::watch;

use crate::world::World;

/// How long a connection may be without a request in hand: before its first, between two, or while a head dribbles in.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many requests of one connection are being handled.
pub(super) struct Activity {
    handled: watch::Sender<u32>,
}

/// One request that is being handled.
pub(super) struct Busy<'a> {
    activity: &'a Activity,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self { handled: watch::Sender::new(0) }
    }

    pub(super) fn begin(&self) -> Busy<'_> {
        self.handled.send_modify(|handled| *handled += 1);
        Busy { activity: self }
    }

    /// Ready once nothing was handled for as long as the patience lasts.
    pub(super) async fn idle(&self, world: &dyn World) {
        let mut handled = self.handled.subscribe();
        loop {
            let is_busy = *handled.borrow_and_update() > 0;
            let patience = async {
                match is_busy {
                    true => std::future::pending().await,
                    false => world.sleep(PATIENCE).await,
                }
            };
            tokio::select! {
                biased;
                _ = handled.changed() => {}
                () = patience => return,
            }
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let handled = &self.activity.handled;
        handled.send_modify(|handled| *handled = handled.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::testing::{TestProvider, TestWorld};

    #[tokio::test(start_paused = true)]
    async fn only_time_without_a_request_counts() {
        let world = TestWorld::new(1, TestProvider::new());
        let activity = Activity::new();
        let start = Instant::now();
        let requests = async {
            sleep(Duration::from_secs(59)).await;
            let busy = activity.begin();
            sleep(Duration::from_secs(600)).await;
            drop(busy);
        };
        tokio::join!(activity.idle(&world), requests);
        assert_eq!(start.elapsed(), Duration::from_secs(59 + 600 + 60));
    }
}
