//! A worker.

use std::{sync::Arc, time::Duration};

use onceproof_gateway::{
    points,
    world::{BoxFuture, SharedWorld},
};

use super::{
    bell::{Bell, ring},
    job::Job,
    queue::prefix,
};
use crate::{
    sim::actors::redis::scripts_of_bullmq as scripts,
    subject::{
        redis_client::{Client, RedisError},
        resp::Reply,
    },
};

/// How long a job is its worker's without a word from it.
const LOCK: Duration = Duration::from_secs(30);
/// How often stalled jobs are looked for.
const STALLED_EVERY: Duration = Duration::from_secs(30);
/// After an error of Redis, a worker rests.
const REST: Duration = Duration::from_secs(15);
/// So often a job is attempted.
pub const ATTEMPTS: u32 = 5;
/// The first pause after a failure; each is twice the one before.
const BACKOFF: Duration = Duration::from_secs(1);

/// What is done with jobs.
pub trait Processor: Send + Sync + 'static {
    /// Does a job; what fails is attempted again.
    fn process(&self, job: Job) -> BoxFuture<Result<(), String>>;

    /// Hears that a job has failed, for now or for good.
    fn failed(&self, job: Job, why: String) -> BoxFuture<()>;
}

/// A worker in one process.
pub struct Worker {
    world: SharedWorld,
    client: Client,
    prefix: String,
    /// By which its locks are known as its own.
    token: String,
    bell: Arc<Bell>,
    processor: Arc<dyn Processor>,
    /// How long a completed job is kept, and its id taken.
    keeps: Duration,
}

/// What a worker finds.
enum Found {
    Job(Job),
    /// The wall clock at which a delayed job is due.
    Later(i64),
    Nothing,
}

impl Worker {
    /// A worker on the queue of this name.
    pub fn new(world: &SharedWorld, name: &str, bell: &Arc<Bell>, processor: Arc<dyn Processor>) -> Self {
        let mut token = [0; 8];
        world.fill_random(&mut token);
        Self {
            world: world.clone(),
            client: Client::new(world, false),
            prefix: prefix(name),
            token: format!("{:016x}", u64::from_be_bytes(token)),
            bell: Arc::clone(bell),
            processor,
            keeps: Duration::ZERO,
        }
    }

    /// The same, which keeps a completed job for so long, and then until another is completed; without this, a job that
    /// is completed is gone.
    pub fn keeping(self, keeps: Duration) -> Self {
        Self { keeps, ..self }
    }

    /// Works for ever, and looks for stalled jobs.
    pub fn run(self) {
        let worker = Arc::new(self);
        let (world, checker) = (Arc::clone(&worker.world), Arc::clone(&worker));
        world.spawn(Box::pin(async move { worker.work_for_ever().await }));
        world.spawn(Box::pin(async move { checker.check_for_ever().await }));
    }

    async fn script(&self, script: &str, arguments: &[&str]) -> Result<Reply, RedisError> {
        let words = [&["EVAL", script, "1", &self.prefix], arguments].concat();
        self.client.ask(&words).await
    }

    async fn work_for_ever(&self) {
        let mut bell = self.bell.subscribe();
        loop {
            match self.take().await {
                Ok(Found::Job(job)) => self.work(job).await,
                Ok(Found::Later(at_ms)) => {
                    let left = u64::try_from(at_ms - self.world.clock_ms()).unwrap_or(0);
                    tokio::select! {
                        biased;
                        _ = bell.changed() => {}
                        () = self.world.sleep(Duration::from_millis(left.max(1))) => {}
                    }
                }
                Ok(Found::Nothing) => _ = bell.changed().await,
                Err(_) => self.world.sleep(REST).await,
            }
        }
    }

    async fn take(&self) -> Result<Found, RedisError> {
        let (now, lasts) = (self.world.clock_ms().to_string(), LOCK.as_millis().to_string());
        Ok(match self.script(scripts::MOVE_TO_ACTIVE, &[&self.token, &now, &lasts]).await? {
            Reply::Array(job) => Job::read(&job).map_or(Found::Nothing, Found::Job),
            Reply::Text(due) => due.parse::<f64>().map_or(Found::Nothing, |due| Found::Later(due as i64)),
            Reply::Nil | Reply::Number(_) => Found::Nothing,
        })
    }

    /// Does a job under its lock. Whoever has lost the lock goes on all the same, and is only told at the end.
    async fn work(&self, job: Job) {
        self.world.reach(points::AFTER_LEASE).await;
        let outcome = tokio::select! {
            biased;
            outcome = self.processor.process(job.clone()) => outcome,
            never = self.keep_lock(&job) => match never {},
        };
        match outcome {
            Ok(()) => {
                self.world.reach(points::BEFORE_COMPLETE).await;
                let (now, keeps) = (self.world.clock_ms().to_string(), self.keeps.as_millis().to_string());
                // An error is logged, and no more.
                let _ = self.script(scripts::MOVE_TO_COMPLETED, &[&job.id, &self.token, &now, &keeps]).await;
                self.world.reach(points::AFTER_COMPLETE).await;
            }
            Err(why) => self.fail(job, why).await,
        }
    }

    async fn keep_lock(&self, job: &Job) -> std::convert::Infallible {
        let lasts = LOCK.as_millis().to_string();
        loop {
            self.world.sleep(LOCK / 2).await;
            self.world.reach(points::BEFORE_HEARTBEAT).await;
            let _ = self.script(scripts::EXTEND_LOCK, &[&job.id, &self.token, &lasts]).await;
        }
    }

    async fn fail(&self, job: Job, why: String) {
        self.world.reach(points::BEFORE_FAIL).await;
        let job = Job { attempts_made: job.attempts_made + 1, ..job };
        let now_ms = self.world.clock_ms();
        let (script, at_ms) = if job.attempts_made < ATTEMPTS {
            let pause = BACKOFF * 2_u32.pow(job.attempts_made - 1);
            (scripts::MOVE_TO_DELAYED, now_ms + pause.as_millis() as i64)
        } else {
            (scripts::MOVE_TO_FAILED, now_ms)
        };
        if self.script(script, &[&job.id, &self.token, &at_ms.to_string()]).await.is_ok() {
            ring(&self.bell);
            self.tell(job, why);
        }
    }

    /// The worker goes on while whoever listens does something about it.
    fn tell(&self, job: Job, why: String) {
        self.world.spawn(self.processor.failed(job, why));
    }

    async fn check_for_ever(&self) {
        let mut bell = self.bell.subscribe();
        loop {
            let active = self.check_stalled().await.unwrap_or(true);
            // Counted from the end of a check: the mark that this one has left in Redis is gone by the next.
            let mut checked = self.world.since_boot();
            if !active {
                _ = bell.changed().await;
            }
            // As if it had looked all the time.
            let now = self.world.since_boot();
            while checked <= now {
                checked += STALLED_EVERY;
            }
            self.world.sleep(checked - now).await;
        }
    }

    /// Whether any job is active.
    async fn check_stalled(&self) -> Result<bool, RedisError> {
        let (now, quiet_ms) = (self.world.clock_ms().to_string(), STALLED_EVERY.as_millis().to_string());
        let reply = self.script(scripts::MOVE_STALLED, &[&now, &quiet_ms]).await?;
        let Reply::Array(replies) = reply else { return Ok(false) };
        let [Reply::Number(active), Reply::Number(wait_again), failed @ ..] = replies.as_slice() else {
            return Ok(false);
        };
        // Only then: whoever rings hears it, too, and would look for ever.
        if *wait_again > 0 {
            ring(&self.bell);
        }
        for job in failed.chunks_exact(3).filter_map(Job::read) {
            self.tell(job, "job stalled more than allowable limit".into());
        }
        Ok(*active > 0)
    }
}
