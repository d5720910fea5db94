//! The processing key of an event (W9): a lock for half a minute, and for so long the only thing that is asked whether
//! an event is known.

use std::sync::Arc;

use super::{client::Client, failure::Failure};
use crate::subject::resp::Reply;

/// How long it lasts.
const LASTS_MS: &str = "30000";

/// The processing keys.
pub struct Keys {
    redis: Arc<Client>,
}

impl Keys {
    /// Those in this Redis.
    pub fn new(redis: &Arc<Client>) -> Self {
        Self { redis: Arc::clone(redis) }
    }

    /// Whether the key is ours now.
    pub async fn claim(&self, id: &str) -> Result<bool, Failure> {
        let reply = self.redis.ask(&["SET", &key(id), "1", "NX", "PX", LASTS_MS]).await?;
        Ok(reply == Reply::Text("OK".into()))
    }

    /// Deletes the key, whoever owns it: it bears nobody's token.
    pub async fn release(&self, id: &str) -> Result<(), Failure> {
        self.redis.ask(&["DEL", &key(id)]).await?;
        Ok(())
    }
}

fn key(id: &str) -> String {
    format!("webhook:processing:{id}")
}
