//! The jobs that have failed for good, for whoever takes them for dead letters.

use super::queue::prefix;
use crate::{
    history::Event,
    sim::{actors::redis::Redis, stage::Stage},
};

/// A dead letter for each job of this queue that has failed.
pub fn failed(redis: &Redis, stage: &Stage, queue: &str) -> Vec<Event> {
    let queue = prefix(queue);
    let ids = redis.look(&["ZRANGEBYSCORE", &format!("{queue}:failed"), "-inf", "+inf"]);
    let jobs = ids.iter().flat_map(|id| redis.look(&["HGET", &format!("{queue}:{id}"), "data"]));
    let letter = |data: String| Event::DeadLetter { op: stage.operation(&data).into(), why: "failed".into() };
    jobs.map(letter).collect()
}
