//! Asks the store how much there is of what it alone knows.

use std::time::Duration;

use tokio::sync::Mutex;

use crate::{
    ledger::Ledger,
    store::{Census, Reply},
    world::SharedWorld,
};

/// Where counting ends: whoever has more than 10,000 needs no exact number.
const LIMIT: u32 = 10_001;

/// So long an answer is good for whoever asks next: however often the gateway is asked, the store is not.
const FRESH: Duration = Duration::from_secs(1);

/// Asks the store, one question at a time.
pub(crate) struct Surveyor {
    world: SharedWorld,
    ledger: Ledger,
    /// When it answered last, in [`crate::world::World::since_boot`], and what; `None` where it did not.
    last: Mutex<Option<(Duration, Option<Census>)>>,
}

impl Surveyor {
    pub(crate) fn new(world: SharedWorld, ledger: Ledger) -> Self {
        Self { world, ledger, last: Mutex::default() }
    }

    /// What the store says, or `None` where it does not answer within its timeout.
    pub(crate) async fn census(&self) -> Option<Census> {
        let mut last = self.last.lock().await;
        if let Some((at, census)) = *last
            && self.world.since_boot().saturating_sub(at) < FRESH
        {
            return census;
        }
        let census = match self.ledger.census(LIMIT).await {
            Ok(Reply::Counted { census }) => Some(census),
            _ => None,
        };
        *last = Some((self.world.since_boot(), census));
        census
    }
}
