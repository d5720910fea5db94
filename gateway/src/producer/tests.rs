//! Orders on their way, over a line that answers as it is told.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::Response;
use serde_json::json;
use tokio::time::Instant;

use super::{
    Book, Domain, Entry, Keys, Line, Order, OrderError, OrderState, Posting, Producer, ProducerError,
    ProducerPolicy, Question, SqliteBook, Step, Taken, Target,
};
use crate::{
    client::ClientError,
    http::PROBLEM_TYPE_PREFIX,
    testing::{TestProvider, TestWorld},
    world::BoxFuture,
};

type Answer = (u16, &'static str, &'static str);

const LOST: Answer = (0, "", "");
const SENT: Answer = (200, "", "m1");

/// Answers in turn; when it has no more answers, everything succeeds.
struct ScriptedLine {
    start: Instant,
    posts: Mutex<VecDeque<Answer>>,
    asks: Mutex<VecDeque<Answer>>,
    posted: Mutex<Vec<(u64, Posting)>>,
    asked: Mutex<Vec<(u64, Question)>>,
}

impl ScriptedLine {
    fn new(posts: &[Answer], asks: &[Answer]) -> Arc<Self> {
        Arc::new(Self {
            start: Instant::now(),
            posts: Mutex::new(posts.iter().copied().collect()),
            asks: Mutex::new(asks.iter().copied().collect()),
            posted: Mutex::default(),
            asked: Mutex::default(),
        })
    }

    /// When each attempt was made, in whole seconds.
    fn seconds(&self) -> Vec<u64> {
        self.posted.lock().unwrap().iter().map(|(at, _)| *at).collect()
    }

    fn keys(&self) -> Vec<String> {
        self.posted.lock().unwrap().iter().map(|(_, posting)| posting.key.clone()).collect()
    }
}

fn respond(answer: Option<Answer>) -> BoxFuture<Result<Response<Bytes>, ClientError>> {
    let (status, slug, id) = answer.unwrap_or(SENT);
    Box::pin(async move {
        if status == 0 {
            return Err(ClientError::Timeout);
        }
        let kind = format!("{PROBLEM_TYPE_PREFIX}{slug}");
        let body = match id {
            "" => json!({ "type": kind, "status": slug }),
            id => json!({ "messageId": id, "status": "sent" }),
        };
        let response = Response::builder().status(status).header("retry-after", "3");
        Ok(response.body(Bytes::from(body.to_string())).unwrap())
    })
}

impl Line for ScriptedLine {
    fn post(&self, posting: Posting) -> BoxFuture<Result<Response<Bytes>, ClientError>> {
        self.posted.lock().unwrap().push((self.start.elapsed().as_secs(), posting));
        respond(self.posts.lock().unwrap().pop_front())
    }

    fn ask(&self, question: Question) -> BoxFuture<Result<Response<Bytes>, ClientError>> {
        self.asked.lock().unwrap().push((self.start.elapsed().as_secs(), question));
        respond(self.asks.lock().unwrap().pop_front())
    }
}

async fn producer(line: &Arc<ScriptedLine>, book: &SqliteBook, fields: &str) -> Arc<Producer> {
    let world = Arc::new(TestWorld::new(1, TestProvider::new()));
    let policy = ProducerPolicy::profile_with("strict", &toml::from_str(fields).unwrap()).unwrap();
    Producer::start(world, policy, Arc::new(book.clone()), line.clone()).await.unwrap()
}

fn step(target: Target) -> Step {
    Step { target, content: json!({ "to": "5511999990001", "text": "Oi" }) }
}

fn order(id: &str) -> Order {
    let target = Target::Of { instance: "loja-1".into(), route: "messages/text".into() };
    Order { id: id.into(), keys: Keys::Random, steps: vec![step(target)] }
}

/// Plays one order to its end.
async fn play(posts: &[Answer], asks: &[Answer]) -> (Arc<ScriptedLine>, Entry) {
    let (line, book) = (ScriptedLine::new(posts, asks), SqliteBook::in_memory().unwrap());
    let producer = producer(&line, &book, "").await;
    assert_eq!(producer.accept(order("a")).await.unwrap(), Taken::New);
    producer.closed("a").await.unwrap();
    let entry = book.entry("a").await.unwrap().unwrap();
    (line, entry)
}

#[tokio::test(start_paused = true)]
async fn whatever_is_not_definite_is_repeated_with_the_key_that_is_written_down() {
    let posts = [LOST, (409, "in-flight", ""), (504, "outcome-unknown", ""), SENT];
    let (line, entry) = play(&posts, &[]).await;
    assert_eq!(entry.state, OrderState::Done);
    assert_eq!(entry.made, [Some("m1".to_owned())]);
    // After 1 s; then 3 s, which `Retry-After` asks for; then 4 s.
    assert_eq!(line.seconds(), [0, 1, 4, 8]);
    let key = entry.keys[0].clone().unwrap();
    assert_eq!(line.keys(), vec![key; 4]);
    assert!(line.asked.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn before_it_gives_up_it_asks_by_the_key() {
    let (line, entry) = play(&[LOST; 4], &[SENT]).await;
    assert_eq!((entry.state, entry.failures), (OrderState::Done, 0));
    let asked = line.asked.lock().unwrap();
    let [(7, question)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(Some(&question.key), entry.keys[0].as_ref());
    assert_eq!((question.instance.as_deref(), question.route.as_str()), (Some("loja-1"), "messages/text"));
}

#[tokio::test(start_paused = true)]
async fn when_nobody_answers_it_comes_back_and_then_gives_up_visibly() {
    let (line, entry) = play(&[LOST; 12], &[LOST, (200, "unknown", ""), (200, "unknown", "")]).await;
    assert_eq!(line.seconds(), [0, 1, 3, 7, 67, 68, 70, 74, 374, 375, 377, 381]);
    assert_eq!((entry.state, entry.failures), (OrderState::GivenUp, 2));
    assert_eq!(entry.why, Some(ClientError::Timeout.to_string()));
    let keys = line.keys();
    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_final_only_where_nothing_bears_the_key() {
    let refused = (400, "invalid-message", "");
    let (line, entry) = play(&[refused], &[(404, "unknown-message", "")]).await;
    assert_eq!((entry.state, entry.why.as_deref()), (OrderState::GivenUp, Some("400 invalid-message")));
    assert_eq!(line.seconds(), [0]);
    let (_, entry) = play(&[LOST, refused], &[SENT]).await;
    assert_eq!(entry.state, OrderState::Done, "the lost attempt had acted");
    let (line, entry) = play(&[refused, SENT], &[(200, "sending", "")]).await;
    assert_eq!((entry.state, line.seconds()), (OrderState::Done, vec![0, 60]), "nobody knew yet");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_another_content_has_is_tried_again_and_its_status_believed_in_nothing() {
    let taken = (422, "key-reused", "");
    let (line, entry) = play(&[taken, SENT], &[]).await;
    assert_eq!((entry.state, line.seconds()), (OrderState::Done, vec![0, 1]), "it was freed");
    let (line, entry) = play(&[taken; 12], &[SENT; 3]).await;
    assert_eq!((entry.state, entry.why.as_deref()), (OrderState::GivenUp, Some("422 key-reused")));
    assert!(line.asked.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_restart_goes_on_with_what_is_open_and_with_nothing_else() {
    let (line, book) = (ScriptedLine::new(&[SENT, LOST], &[]), SqliteBook::in_memory().unwrap());
    let first = producer(&line, &book, "").await;
    first.accept(order("a")).await.unwrap();
    assert_eq!(first.closed("a").await.unwrap(), Some(OrderState::Done));
    first.accept(order("b")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(first.accept(order("b")).await.unwrap(), Taken::Known);
    // The first life is still asleep between two attempts; nothing of it is needed by the second.
    let second = producer(&line, &book, "").await;
    assert_eq!(second.closed("b").await.unwrap(), Some(OrderState::Done));
    let posted = line.posted.lock().unwrap();
    let orders: Vec<&str> = posted.iter().map(|(_, posting)| posting.order.as_str()).collect();
    assert_eq!(orders, ["a", "b", "b"]);
    assert_eq!(posted[1].1.key, posted[2].1.key);
    assert_ne!(posted[0].1.key, posted[1].1.key);
}

#[tokio::test(start_paused = true)]
async fn a_step_begins_when_the_one_before_it_has_acted() {
    let posts = [LOST, (201, "", "4711"), LOST, SENT];
    let (line, book) = (ScriptedLine::new(&posts, &[]), SqliteBook::in_memory().unwrap());
    let producer = producer(&line, &book, "").await;
    let send = Target::OfCreated { step: 0, route: "messages/text".into() };
    let composite = Order { steps: vec![step(Target::NewInstance), step(send)], ..order("a") };
    producer.accept(composite).await.unwrap();
    assert_eq!(producer.closed("a").await.unwrap(), Some(OrderState::Done));
    let posted = line.posted.lock().unwrap();
    let told: Vec<_> = posted.iter().map(|(_, it)| (it.step, it.attempt, it.instance.as_deref())).collect();
    assert_eq!(told, [(0, 1, None), (0, 2, None), (1, 1, Some("4711")), (1, 2, Some("4711"))]);
    assert_eq!(posted[0].1.key, posted[1].1.key);
    assert_eq!(posted[2].1.key, posted[3].1.key);
    assert_ne!(posted[0].1.key, posted[2].1.key, "each step has its own");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_an_order_is_refused_before_it_is_written_down() {
    let (line, book) = (ScriptedLine::new(&[], &[]), SqliteBook::in_memory().unwrap());
    let producer = producer(&line, &book, "").await;
    let domain = Domain {
        instance: "loja-1".into(),
        recipient: "5511999990001".into(),
        event: None,
        template: None,
        event_ms: 0,
    };
    let send = Target::OfCreated { step: 0, route: "messages/text".into() };
    let dated = Domain { event: Some("e".into()), event_ms: i64::MAX, ..domain.clone() };
    for (bad, expected) in [
        (Order { steps: Vec::new(), ..order("a") }, OrderError::NoSteps),
        (Order { keys: Keys::Deterministic(domain), ..order("a") }, OrderError::NoSubject),
        (Order { keys: Keys::Deterministic(dated), ..order("a") }, OrderError::NoDate),
        (Order { steps: vec![step(send)], ..order("a") }, OrderError::NotCreated(0)),
    ] {
        let refused = producer.accept(bad).await;
        assert!(matches!(&refused, Err(ProducerError::Order(error)) if *error == expected), "{refused:?}");
    }
    assert_eq!(producer.closed("a").await.unwrap(), None);
    producer.accept(order("a")).await.unwrap();
    let other = Order { steps: vec![step(Target::NewInstance)], ..order("a") };
    assert!(matches!(producer.accept(other).await, Err(ProducerError::Other(id)) if id == "a"));
}
