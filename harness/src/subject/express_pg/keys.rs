//! The processing key of an event (W9): a lock for half a minute, and for so long the only thing that is asked whether
//! an event is known.

use std::sync::Arc;

use onceproof_gateway::world::SharedWorld;

use super::{client::Client, failure::Failure};
use crate::subject::resp::Reply;

/// How long it lasts.
const LASTS_MS: &str = "30000";

/// The processing keys.
pub struct Keys {
    redis: Arc<Client>,
    /// Whose they are, if they say so.
    token: Option<String>,
}

impl Keys {
    /// Those in this Redis.
    pub fn new(redis: &Arc<Client>) -> Self {
        Self { redis: Arc::clone(redis), token: None }
    }

    /// The same, deleted by whoever set them alone.
    pub fn owned(self, world: &SharedWorld) -> Self {
        let mut drawn = [0; 8];
        world.fill_random(&mut drawn);
        Self { token: Some(format!("{:016x}", u64::from_be_bytes(drawn))), ..self }
    }

    /// Whether the key is ours now.
    pub async fn claim(&self, id: &str) -> Result<bool, Failure> {
        let reply = self.redis.ask(&["SET", &key(id), self.value(), "NX", "PX", LASTS_MS]).await?;
        Ok(reply == Reply::Text("OK".into()))
    }

    /// Deletes the key, whoever owns it, if it bears nobody's token.
    pub async fn release(&self, id: &str) -> Result<(), Failure> {
        if self.token.is_some()
            && self.redis.ask(&["GET", &key(id)]).await? != Reply::Text(self.value().into())
        {
            return Ok(());
        }
        self.redis.ask(&["DEL", &key(id)]).await?;
        Ok(())
    }
}

impl Keys {
    fn value(&self) -> &str {
        self.token.as_deref().unwrap_or("1")
    }
}

fn key(id: &str) -> String {
    format!("webhook:processing:{id}")
}
