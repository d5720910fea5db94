//! BullMQ's scripts, which a Redis runs whole: what they do to its keys, after version 5.
//!
//! There is no Lua in here, so each is called by a name of ours in place of its text. Each takes the queue's prefix as
//! its one key. W7: these rules decide what becomes of a job whose worker dies or sleeps.

use super::{Call, Outcome, find};
use crate::sim::actors::redis::{
    memory::OUT_OF_MEMORY,
    resp::{OK, Reply, number},
};

/// Adds a job: its data, and its id; an empty one asks for a number.
pub const ADD: &str = "-- bullmq: addStandardJob";
/// Takes the next job: the token of its lock, now, and how long the lock lasts.
pub const MOVE_TO_ACTIVE: &str = "-- bullmq: moveToActive";
/// Prolongs the lock of a job: its id, the token, and for how long.
pub const EXTEND_LOCK: &str = "-- bullmq: extendLock";
/// Replaces the data of a job: its id, and the data.
pub const UPDATE_DATA: &str = "-- bullmq: updateData";
/// A job is done: its id, the token, now, and for how many milliseconds it is kept. Those that were kept for longer are
/// removed, and only now: nothing else looks for them.
pub const MOVE_TO_COMPLETED: &str = "-- bullmq: moveToFinished completed";
/// A job is given up, and kept: its id, the token, and now.
pub const MOVE_TO_FAILED: &str = "-- bullmq: moveToFinished failed";
/// A job is to be done again: its id, the token, and when.
pub const MOVE_TO_DELAYED: &str = "-- bullmq: moveToDelayed";
/// Finds the jobs whose workers have died: now, and how long nobody need look again.
pub const MOVE_STALLED: &str = "-- bullmq: moveStalledJobsToWait";

/// So often a job may stall and be run again; the next time it fails.
const MAX_STALLED: i64 = 1;

/// One call of a script.
pub struct Script<'a, 'b> {
    call: &'a mut Call<'b>,
    prefix: String,
    arguments: Vec<String>,
    /// Whether it has written anything. From then on it may go on, whatever it needs.
    has_written: bool,
}

type Run = fn(&mut Script<'_, '_>) -> Outcome;

/// What the script of this text does, if it is one of BullMQ's.
pub fn known(text: &[u8]) -> Option<Run> {
    let all: [(&str, Run); 8] = [
        (ADD, |script| script.add()),
        (UPDATE_DATA, |script| script.update_data()),
        (MOVE_TO_ACTIVE, |script| script.move_to_active()),
        (EXTEND_LOCK, |script| script.extend_lock()),
        (MOVE_TO_COMPLETED, |script| script.complete()),
        (MOVE_TO_FAILED, |script| script.fail()),
        (MOVE_TO_DELAYED, |script| script.delay()),
        (MOVE_STALLED, |script| script.move_stalled()),
    ];
    all.into_iter().find_map(|(name, run)| (name.as_bytes() == text).then_some(run))
}

impl<'a, 'b> Script<'a, 'b> {
    /// The call of a script with one key.
    pub fn new(call: &'a mut Call<'b>, prefix: &[u8], arguments: &[Vec<u8>]) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let arguments = arguments.iter().map(|argument| text(argument)).collect();
        Self { call, prefix: text(prefix), arguments, has_written: false }
    }

    fn argument(&self, at: usize) -> String {
        self.arguments.get(at).cloned().unwrap_or_default()
    }

    fn key(&self, part: &str) -> String {
        format!("{}:{part}", self.prefix)
    }

    fn lock(&self, id: &str) -> String {
        self.key(&format!("{id}:lock"))
    }

    fn redis(&mut self, words: &[&str]) -> Outcome {
        let spec = find(words[0].as_bytes()).ok_or("ERR Unknown Redis command called from script")?;
        if self.call.full && spec.grows && !self.has_written {
            return Err(OUT_OF_MEMORY.into());
        }
        self.has_written |= spec.writes;
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        (spec.run)(&mut Call { keyspace: self.call.keyspace, words: &words, ..*self.call })
    }

    fn text(&mut self, words: &[&str]) -> Result<Option<String>, String> {
        Ok(match self.redis(words)? {
            Reply::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            _ => None,
        })
    }

    fn count(&mut self, words: &[&str]) -> Result<i64, String> {
        Ok(match self.redis(words)? {
            Reply::Number(number) => number,
            _ => 0,
        })
    }

    fn texts(&mut self, words: &[&str]) -> Result<Vec<String>, String> {
        let Reply::Array(replies) = self.redis(words)? else { return Ok(Vec::new()) };
        let text = |reply| match reply {
            Reply::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            _ => None,
        };
        Ok(replies.into_iter().filter_map(text).collect())
    }

    /// Counts one more in a field of a job.
    fn bump(&mut self, id: &str, field: &str) -> Result<i64, String> {
        let job = self.key(id);
        let before = self.text(&["hget", &job, field])?.and_then(|text| number(text.as_bytes()));
        let after = before.unwrap_or(0) + 1;
        self.redis(&["hset", &job, field, &after.to_string()])?;
        Ok(after)
    }

    fn add(&mut self) -> Outcome {
        let id = match self.argument(1) {
            id if id.is_empty() => self.count(&["incr", &self.key("id")])?.to_string(),
            id if self.count(&["exists", &self.key(&id)])? > 0 => return Ok(Reply::Bytes(id.into_bytes())),
            id => id,
        };
        self.redis(&["hset", &self.key(&id), "data", &self.argument(0)])?;
        self.redis(&["lpush", &self.key("wait"), &id])?;
        Ok(Reply::Bytes(id.into_bytes()))
    }

    fn update_data(&mut self) -> Outcome {
        let (job, data) = (self.key(&self.argument(0)), self.argument(1));
        if self.count(&["exists", &job])? == 0 {
            return Err(format!("ERR missing key for job {}", self.argument(0)));
        }
        self.redis(&["hset", &job, "data", &data])
    }

    /// The job's id, data and failed attempts; or when the next delayed one is due; or nothing.
    fn move_to_active(&mut self) -> Outcome {
        let (token, now, lasts) = (self.argument(0), self.argument(1), self.argument(2));
        let (wait, active, delayed) = (self.key("wait"), self.key("active"), self.key("delayed"));
        for id in self.texts(&["zrangebyscore", &delayed, "0", &now])? {
            self.redis(&["zrem", &delayed, &id])?;
            self.redis(&["lpush", &wait, &id])?;
        }
        let Some(id) = self.text(&["rpoplpush", &wait, &active])? else {
            let next = self.texts(&["zrangebyscore", &delayed, "0", "+inf", "LIMIT", "0", "1"])?;
            return match next.first() {
                Some(id) => self.redis(&["zscore", &delayed, id]),
                None => Ok(Reply::Nil),
            };
        };
        self.redis(&["set", &self.lock(&id), &token, "PX", &lasts])?;
        let job = self.key(&id);
        let data = self.redis(&["hget", &job, "data"])?;
        let failed = self.text(&["hget", &job, "atm"])?.unwrap_or_else(|| "0".into());
        Ok(Reply::Array(vec![Reply::Bytes(id.into_bytes()), data, Reply::Bytes(failed.into_bytes())]))
    }

    fn extend_lock(&mut self) -> Outcome {
        let (id, token, lasts) = (self.argument(0), self.argument(1), self.argument(2));
        let lock = self.lock(&id);
        if self.text(&["get", &lock])?.as_ref() != Some(&token) {
            return Ok(Reply::Number(0));
        }
        self.redis(&["set", &lock, &token, "PX", &lasts])?;
        self.redis(&["hdel", &self.key("stalled"), &id])?;
        Ok(Reply::Number(1))
    }

    /// Takes a job from its worker, if it is still that worker's.
    fn release(&mut self) -> Result<String, String> {
        let (id, token) = (self.argument(0), self.argument(1));
        let lock = self.lock(&id);
        match self.text(&["get", &lock])? {
            None => return Err(format!("ERR missing lock for job {id}")),
            Some(holder) if holder != token => return Err(format!("ERR lock mismatch for job {id}")),
            Some(_) => {}
        }
        // An error has changed nothing: this comes first.
        if self.count(&["lrem", &self.key("active"), "-1", &id])? == 0 {
            return Err(format!("ERR job {id} is not in the active state"));
        }
        self.redis(&["del", &lock])?;
        self.redis(&["hdel", &self.key("stalled"), &id])?;
        Ok(id)
    }

    fn complete(&mut self) -> Outcome {
        let id = self.release()?;
        let (now, kept_ms) = (self.argument(2), self.argument(3));
        let kept_ms = number(kept_ms.as_bytes()).unwrap_or(0);
        if kept_ms == 0 {
            return self.redis(&["del", &self.key(&id)]).map(|_| OK);
        }
        let completed = self.key("completed");
        self.redis(&["zadd", &completed, &now, &id])?;
        let oldest = (number(now.as_bytes()).unwrap_or(0) - kept_ms).to_string();
        for old in self.texts(&["zrangebyscore", &completed, "-inf", &oldest])? {
            self.redis(&["zrem", &completed, &old])?;
            self.redis(&["del", &self.key(&old)])?;
        }
        Ok(OK)
    }

    fn fail(&mut self) -> Outcome {
        let id = self.release()?;
        self.redis(&["zadd", &self.key("failed"), &self.argument(2), &id])?;
        self.bump(&id, "atm").map(Reply::Number)
    }

    fn delay(&mut self) -> Outcome {
        let id = self.release()?;
        self.redis(&["zadd", &self.key("delayed"), &self.argument(2), &id])?;
        self.bump(&id, "atm").map(Reply::Number)
    }

    /// How many jobs are active, how many wait again, and then, of each that has failed: its id, data and failed attempts.
    fn move_stalled(&mut self) -> Outcome {
        let (now, quiet_ms) = (self.argument(0), self.argument(1));
        let (mut failed, mut wait_again) = (Vec::new(), 0);
        let checked = self.redis(&["set", &self.key("stalled-check"), &now, "NX", "PX", &quiet_ms])?;
        if checked == OK {
            let stalled = self.key("stalled");
            let suspects = self.texts_of_map(&stalled)?;
            self.redis(&["del", &stalled])?;
            for id in suspects {
                let waited = self.count(&["llen", &self.key("wait")])?;
                failed.extend(self.take_from_the_dead(&id, &now)?);
                wait_again += self.count(&["llen", &self.key("wait")])? - waited;
            }
            // Whoever is active now, and is not heard of until the next time, is suspected then.
            for id in self.texts(&["lrange", &self.key("active"), "0", "-1"])? {
                self.redis(&["hset", &stalled, &id, "1"])?;
            }
        }
        let active = self.count(&["llen", &self.key("active")])?;
        Ok(Reply::Array(
            [Reply::Number(active), Reply::Number(wait_again)].into_iter().chain(failed).collect(),
        ))
    }

    fn texts_of_map(&mut self, key: &str) -> Result<Vec<String>, String> {
        let Reply::Map(pairs) = self.redis(&["hgetall", key])? else { return Ok(Vec::new()) };
        let text = |(field, _)| match field {
            Reply::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            _ => None,
        };
        Ok(pairs.into_iter().filter_map(text).collect())
    }

    /// A job that is active without a lock waits again, or fails.
    fn take_from_the_dead(&mut self, id: &str, now: &str) -> Result<Vec<Reply>, String> {
        let is_held = self.text(&["get", &self.lock(id)])?.is_some();
        if is_held || self.count(&["lrem", &self.key("active"), "1", id])? == 0 {
            return Ok(Vec::new());
        }
        if self.bump(id, "stc")? <= MAX_STALLED {
            self.redis(&["rpush", &self.key("wait"), id])?;
            return Ok(Vec::new());
        }
        self.redis(&["zadd", &self.key("failed"), now, id])?;
        let data = self.redis(&["hget", &self.key(id), "data"])?;
        let made = self.text(&["hget", &self.key(id), "atm"])?.unwrap_or_else(|| "0".into());
        Ok(vec![Reply::Bytes(id.into()), data, Reply::Bytes(made.into_bytes())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::actors::redis::keyspace::Keyspace;

    /// A Redis in which one queue is.
    #[derive(Default)]
    struct Queue {
        keyspace: Keyspace,
        full: bool,
    }

    impl Queue {
        fn say(&mut self, script: &str, arguments: &[&str]) -> Outcome {
            let arguments: Vec<Vec<u8>> = arguments.iter().map(|word| word.as_bytes().to_vec()).collect();
            let (keyspace, full) = (&mut self.keyspace, self.full);
            let mut call = Call { keyspace, database: 0, now_ms: 0, words: &[], full };
            let run = known(script.as_bytes()).expect("a script of BullMQ's");
            run(&mut Script::new(&mut call, b"bull:q", &arguments))
        }

        /// The id of the job that is taken, if there is one.
        fn take(&mut self) -> Option<String> {
            match self.say(MOVE_TO_ACTIVE, &["me", "0", "30000"]) {
                Ok(Reply::Array(job)) => job.into_iter().find_map(|reply| match reply {
                    Reply::Bytes(id) => Some(String::from_utf8_lossy(&id).into_owned()),
                    _ => None,
                }),
                _ => None,
            }
        }

        fn complete(&mut self, id: &str, now: &str, kept_ms: &str) {
            assert!(self.say(MOVE_TO_COMPLETED, &[id, "me", now, kept_ms]).is_ok());
        }
    }

    #[test]
    fn an_id_is_taken_while_there_is_a_job_of_it() {
        let mut queue = Queue::default();
        for _ in 0..2 {
            assert!(queue.say(ADD, &["{}", "a"]).is_ok());
        }
        assert_eq!(queue.take().as_deref(), Some("a"));
        assert_eq!(queue.take(), None, "the second was not added");
        queue.complete("a", "0", "0");
        assert!(queue.say(ADD, &["{}", "a"]).is_ok());
        assert_eq!(queue.take().as_deref(), Some("a"), "what is gone can be added again");
    }

    #[test]
    fn a_completed_job_is_kept_for_its_time_and_until_the_next_is_completed() {
        let mut queue = Queue::default();
        for (id, now) in [("a", "0"), ("b", "299999"), ("c", "300000")] {
            assert!(queue.say(ADD, &["{}", id]).is_ok());
            assert_eq!(queue.take().as_deref(), Some(id));
            if id == "c" {
                assert!(queue.say(ADD, &["{}", "a"]).is_ok());
                assert_eq!(queue.take(), None, "its time is over, and nobody has looked");
            }
            queue.complete(id, now, "300000");
        }
        for (id, taken) in [("a", Some("a")), ("b", None)] {
            assert!(queue.say(ADD, &["{}", id]).is_ok());
            assert_eq!(queue.take().as_deref(), taken, "{id}");
        }
    }

    #[test]
    fn a_full_redis_stops_a_script_before_it_has_written_and_not_after() {
        let mut queue = Queue::default();
        assert!(queue.say(ADD, &["{}", "a"]).is_ok());
        queue.full = true;
        assert!(queue.say(ADD, &["{}", "b"]).is_err());
        assert!(queue.say(MOVE_TO_ACTIVE, &["me", "0", "30000"]).is_err());
        queue.full = false;
        assert_eq!(queue.take().as_deref(), Some("a"));
        queue.full = true;
        assert!(queue.say(EXTEND_LOCK, &["a", "me", "30000"]).is_err());
        queue.complete("a", "0", "300000");
    }
}
