//! One order on its way: step after step, each repeated with its key until the answer is definite.

use std::{sync::Arc, time::Duration};

use super::{
    BookError, Entry, FailedStep, Keys, Noted, OrderError, OrderState, Place, Posting, Producer, Question,
    RetryKey, Target, WorkerKey,
    answer::{Heard, KeyStatus, read, read_status},
    points,
};
use crate::hex::random_id;

/// The pause before a book that failed is tried again.
const BOOK_PAUSE: Duration = Duration::from_secs(1);

/// What is in the queue. It dies with the process.
pub(super) struct Job {
    /// The order.
    pub(super) id: String,
    /// The keys of its steps, where a policy writes them nowhere.
    pub(super) keys: Vec<Option<String>>,
    /// Whether the first attempt is that of whoever took the order.
    pub(super) is_at_once: bool,
}

impl Job {
    /// What a restart finds.
    pub(super) fn read_from_book(id: String) -> Self {
        Self { id, keys: Vec::new(), is_at_once: false }
    }
}

/// How a step came out.
enum Outcome {
    /// It acted.
    Acted(Option<String>),
    /// Its retries are used up: it may have acted.
    Failed(String),
    /// It was refused for good, and its key has not acted.
    Refused(String),
}

/// One order in hand.
pub(super) struct Errand {
    producer: Arc<Producer>,
    job: Job,
    attempts: u32,
}

impl Errand {
    pub(super) fn new(producer: Arc<Producer>, job: Job) -> Self {
        Self { producer, job, attempts: 0 }
    }

    /// Until the order is closed.
    pub(super) async fn run(mut self) {
        loop {
            match self.go_on().await {
                Ok(Some(pause)) => self.producer.world.sleep(pause).await,
                Ok(None) => break,
                // What was done is done again, with the same keys.
                Err(_) => self.producer.world.sleep(BOOK_PAUSE).await,
            }
        }
        self.producer.closed.notify_waiters();
    }

    /// Does the next step; tells when to go on, unless the order is closed.
    async fn go_on(&mut self) -> Result<Option<Duration>, BookError> {
        let id = self.job.id.clone();
        let Some(entry) = self.producer.book.entry(&id).await? else { return Ok(None) };
        if entry.state != OrderState::Open {
            return Ok(None);
        }
        let step = entry.steps_done;
        let outcome = {
            let producer = Arc::clone(&self.producer);
            let _place = producer.places.acquire().await;
            self.step(&entry, step).await?
        };
        let again = self.producer.policy.again_after.get(entry.failures as usize).copied();
        let (noted, next) = match (outcome, again) {
            (Outcome::Acted(id), _) => (Noted::Acted { step, id }, Some(Duration::ZERO)),
            (Outcome::Failed(_), Some(pause)) => (Noted::Failed, Some(pause)),
            (Outcome::Failed(why) | Outcome::Refused(why), _) => (Noted::GivenUp { why }, None),
        };
        if matches!(noted, Noted::Acted { .. }) {
            self.attempts = 0;
        }
        self.producer.book.note(&id, noted).await?;
        Ok(next)
    }

    /// One round of a step: its attempts, and the question before it is given up.
    async fn step(&mut self, entry: &Entry, step: usize) -> Result<Outcome, BookError> {
        let producer = Arc::clone(&self.producer);
        let mut posting = match blank(entry, step) {
            Ok(posting) => posting,
            Err(why) => return Ok(Outcome::Refused(why)),
        };
        let new_key = self.rekey(entry, step).await?;
        let mut pauses = producer.policy.retry.iter();
        let mut is_retry = false;
        loop {
            posting.key = match self.key_of_attempt(entry, step, new_key.as_ref(), is_retry) {
                Ok(key) => key,
                Err(error) => return Ok(Outcome::Refused(error.to_string())),
            };
            let heard = self.attempt(&mut posting).await;
            // Whoever took the order is gone; from here on it is the worker's.
            self.job.is_at_once = false;
            is_retry = true;
            let wait = match (&heard, pauses.next()) {
                (Heard::Again { pause: asked, .. }, Some(pause)) => asked.unwrap_or_default().max(*pause),
                (Heard::KeyTaken(_), Some(pause)) => *pause,
                _ => return Ok(self.conclude(posting, heard).await),
            };
            producer.world.sleep(wait).await;
        }
    }

    async fn attempt(&mut self, posting: &mut Posting) -> Heard {
        let Producer { world, line, .. } = &*self.producer;
        self.attempts += 1;
        posting.attempt = self.attempts;
        world.reach(points::BEFORE_ATTEMPT).await;
        let outcome = line.post(posting.clone()).await;
        world.reach(points::BEFORE_RECORD).await;
        read(&outcome)
    }

    /// A refusal speaks for one attempt, and a lost answer for none: the key's status is asked before the step counts as
    /// failed. What another content's key says is not of this order.
    async fn conclude(&self, posting: Posting, last: Heard) -> Outcome {
        let (why, is_refused) = match last {
            Heard::Acted { id } => return Outcome::Acted(id),
            Heard::KeyTaken(why) => return Outcome::Failed(why),
            Heard::Refused(why) => (why, true),
            Heard::Again { why, .. } => (why, false),
        };
        let Posting { order, step, instance, route, key, .. } = posting;
        let question = Question { order, step, instance, route, key };
        match read_status(&self.producer.line.ask(question).await) {
            KeyStatus::Sent { id } => Outcome::Acted(id),
            KeyStatus::Free if is_refused => Outcome::Refused(why),
            _ => Outcome::Failed(why),
        }
    }

    /// A new key for a step of a composite operation that has failed, where a policy gives it one.
    async fn rekey(&self, entry: &Entry, step: usize) -> Result<Option<String>, BookError> {
        let Producer { world, policy, book, .. } = &*self.producer;
        let has_failed = entry.failures > 0 && entry.order.is_composite();
        if !has_failed || policy.failed_step == FailedStep::KeepsKey {
            return Ok(None);
        }
        let key = random_id(&**world);
        book.note(&entry.order.id, Noted::Rekeyed { step, key: key.clone() }).await?;
        Ok(Some(key))
    }

    fn key_of_attempt(
        &mut self,
        entry: &Entry,
        step: usize,
        new_key: Option<&String>,
        is_retry: bool,
    ) -> Result<String, OrderError> {
        match (new_key, self.producer.policy.retry_key) {
            (_, RetryKey::New) if is_retry => Ok(random_id(&*self.producer.world)),
            (Some(key), _) => Ok(key.clone()),
            (None, _) => self.key(entry, step),
        }
    }

    /// The key of a step: what is written down, unless a policy has the worker make it, or write it nowhere.
    fn key(&mut self, entry: &Entry, step: usize) -> Result<String, OrderError> {
        let Self { producer, job, .. } = self;
        let is_made = producer.policy.worker_key == WorkerKey::Made
            && !job.is_at_once
            && entry.order.keys != Keys::Random;
        let make = || producer.make_key(&entry.order, step, Place::Worker);
        match (entry.keys.get(step), job.keys.get(step)) {
            _ if is_made => make(),
            (Some(Some(known)), _) | (_, Some(Some(known))) => Ok(known.clone()),
            _ => {
                let key = make()?;
                job.keys.resize(entry.order.steps.len(), None);
                job.keys[step] = Some(key.clone());
                Ok(key)
            }
        }
    }
}

/// What every attempt of a step has in common, or why there is none and never will be.
fn blank(entry: &Entry, step: usize) -> Result<Posting, String> {
    let planned = entry.order.steps.get(step).ok_or("the order has no such step")?;
    let (instance, route) = match &planned.target {
        Target::NewInstance => (None, "instances".to_owned()),
        Target::Of { instance, route } => (Some(instance.clone()), route.clone()),
        Target::OfCreated { step: creator, route } => {
            let made = entry.made.get(*creator).cloned().flatten();
            (Some(made.ok_or("nobody knows the id of the instance that was created")?), route.clone())
        }
    };
    let (order, content) = (entry.order.id.clone(), planned.content.clone());
    Ok(Posting { order, step, attempt: 0, instance, route, key: String::new(), content })
}
