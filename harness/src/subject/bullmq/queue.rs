//! A queue.

use std::sync::Arc;

use onceproof_gateway::world::SharedWorld;
use serde_json::Value;

use super::{
    bell::{Bell, ring},
    job::Job,
};
use crate::{
    sim::actors::redis::scripts_of_bullmq as scripts,
    subject::redis_client::{Client, RedisError},
};

/// Why a job is not added.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The library refuses the id.
    #[error("not the id of a job: {0}")]
    NoId(String),
    /// Redis did not take it.
    #[error(transparent)]
    Redis(#[from] RedisError),
}

/// Where the keys of a queue begin.
pub fn prefix(queue: &str) -> String {
    format!("bull:{queue}")
}

/// A queue, for whoever adds to it.
pub struct Queue {
    client: Client,
    prefix: String,
    bell: Arc<Bell>,
}

impl Queue {
    /// The queue of this name.
    pub fn new(world: &SharedWorld, name: &str, bell: &Arc<Bell>) -> Self {
        Self { client: Client::new(world, true), prefix: prefix(name), bell: Arc::clone(bell) }
    }

    /// Adds a job, which gets a number for its id.
    ///
    /// # Errors
    /// When Redis does not take it.
    pub async fn add(&self, data: &Value) -> Result<(), RedisError> {
        self.add_as("", data).await
    }

    /// Adds a job with an id of its own. While there is a job of this id, finished ones included, nothing is added.
    ///
    /// # Errors
    /// When the id is none, or Redis does not take the job.
    pub async fn add_once(&self, id: &str, data: &Value) -> Result<(), QueueError> {
        match is_id(id) {
            true => Ok(self.add_as(id, data).await?),
            false => Err(QueueError::NoId(id.into())),
        }
    }

    async fn add_as(&self, id: &str, data: &Value) -> Result<(), RedisError> {
        self.client.ask(&["EVAL", scripts::ADD, "1", &self.prefix, &data.to_string(), id]).await?;
        ring(&self.bell);
        Ok(())
    }

    /// Replaces the data of a job.
    ///
    /// # Errors
    /// When Redis does not take them.
    pub async fn update(&self, job: &Job) -> Result<(), RedisError> {
        let (id, data) = (&job.id, job.data.to_string());
        self.client.ask(&["EVAL", scripts::UPDATE_DATA, "1", &self.prefix, id, &data]).await?;
        Ok(())
    }
}

/// Whether BullMQ takes an id: no whole number, which would be one of its own; and, from 5 on, no colons, or two of them,
/// as repeated jobs of earlier versions have.
fn is_id(id: &str) -> bool {
    let is_number = id.parse::<i64>().is_ok_and(|number| number.to_string() == id);
    let colons = id.matches(':').count();
    !is_number && (colons == 0 || colons == 2)
}

#[cfg(test)]
mod tests {
    use super::is_id;

    #[test]
    fn ids_are_those_that_bullmq_takes() {
        for id in ["loja-1:5511999990001:evt_1", "evt_1", "007", "a:b:c"] {
            assert!(is_id(id), "{id}");
        }
        for id in ["7", "-7", "a:b", "loja-1:5511999990001:evt:1"] {
            assert!(!is_id(id), "{id}");
        }
    }
}
