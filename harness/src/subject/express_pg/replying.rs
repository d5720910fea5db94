//! How a customer is answered.

use onceproof_gateway::world::SharedWorld;

use super::webhook::Webhook;
use crate::subject::{keyed_reply::KeyedReplies, reply::reply};

/// Straight to the provider and under no key, as the text does, or through a gateway.
#[derive(Clone)]
pub struct Replying {
    /// The host's.
    pub world: SharedWorld,
    /// Through which replies go, where they bear a key.
    pub keyed: Option<KeyedReplies>,
}

impl Replying {
    /// Answers whoever wrote.
    ///
    /// # Errors
    /// Whatever is no success. The reply may have gone out all the same.
    pub async fn reply(&self, webhook: &Webhook) -> Result<(), String> {
        match &self.keyed {
            Some(keyed) => keyed.reply(webhook.from(), webhook.text(), &webhook.id, 1).await,
            None => reply(&self.world, webhook.from(), webhook.text()).await,
        }
    }
}
