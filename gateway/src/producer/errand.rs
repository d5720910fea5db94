//! One order on its way: step after step, each repeated with its key until the answer is definite.

use std::{sync::Arc, time::Duration};

use super::{
    BookError, Entry, FailedStep, Keys, Noted, OrderError, OrderState, Place, Posting, Producer, Question,
    RetryKey, Target, WorkerKey,
    answer::{Heard, read, read_status},
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
        let mut posting = match self.posting(entry, step).await? {
            Ok(posting) => posting,
            Err(why) => return Ok(Outcome::Refused(why)),
        };
        let mut last = self.attempt(&mut posting).await;
        for pause in &producer.policy.retry {
            let wait = match &last {
                Heard::Again { pause: asked, .. } => asked.unwrap_or_default().max(*pause),
                Heard::KeyTaken(_) => *pause,
                Heard::Acted { .. } | Heard::Refused(_) => break,
            };
            producer.world.sleep(wait).await;
            if producer.policy.retry_key == RetryKey::New {
                posting.key = random_id(&*producer.world);
            } else if self.job.is_at_once {
                // The caller is gone; from here on it is the worker's.
                self.job.is_at_once = false;
                match self.key(entry, step) {
                    Ok(key) => posting.key = key,
                    Err(error) => return Ok(Outcome::Refused(error.to_string())),
                }
            }
            last = self.attempt(&mut posting).await;
        }
        self.job.is_at_once = false;
        Ok(self.conclude(posting, last).await)
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
        let why = match last {
            Heard::Acted { id } => return Outcome::Acted(id),
            Heard::KeyTaken(why) => return Outcome::Failed(why),
            Heard::Refused(ref why) | Heard::Again { ref why, .. } => why.clone(),
        };
        let Posting { order, step, instance, route, key, .. } = posting;
        let question = Question { order, step, instance, route, key };
        match read_status(&self.producer.line.ask(question).await) {
            Some(Heard::Acted { id }) => Outcome::Acted(id),
            _ if matches!(last, Heard::Refused(_)) => Outcome::Refused(why),
            _ => Outcome::Failed(why),
        }
    }

    /// The first attempt of a round, or why there is none and never will be.
    async fn posting(&mut self, entry: &Entry, step: usize) -> Result<Result<Posting, String>, BookError> {
        let order = &entry.order;
        let (instance, route) = match &order.steps[step].target {
            Target::NewInstance => (None, "instances".to_owned()),
            Target::Of { instance, route } => (Some(instance.clone()), route.clone()),
            Target::OfCreated { step: creator, route } => match entry.made.get(*creator) {
                Some(Some(instance)) => (Some(instance.clone()), route.clone()),
                _ => return Ok(Err("nobody knows the id of the instance that was created".into())),
            },
        };
        let mut key = match self.key(entry, step) {
            Ok(key) => key,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let has_failed = entry.failures > 0 && order.is_composite();
        if has_failed && self.producer.policy.failed_step == FailedStep::NewKey {
            key = random_id(&*self.producer.world);
            let noted = Noted::Rekeyed { step, key: key.clone() };
            self.producer.book.note(&order.id, noted).await?;
        }
        let content = order.steps[step].content.clone();
        let order = order.id.clone();
        Ok(Ok(Posting { order, step, attempt: 0, instance, route, key, content }))
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
