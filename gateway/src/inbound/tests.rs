//! The receiver under a store and a hint that misbehave.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::future::{pending, ready};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, Response};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Endpoint, Inbound, Receiver, Scheme, Subscriber};
use crate::{
    gateway::{Parts, assemble},
    hex,
    hint::Hint,
    http::Problem,
    metrics::Metrics,
    policy::Policy,
    provider::{Ability, ProviderConfig},
    testing::{Fault, FaultyStore, TestProvider, TestWorld, body_of},
    world::BoxFuture,
};

/// Counts what it is asked.
#[derive(Debug, Default)]
struct TestHint {
    marked: Mutex<BTreeSet<String>>,
    asked: AtomicU32,
    hangs: bool,
}

impl Hint for TestHint {
    fn mark(&self, key: &str, _ttl: Duration) -> BoxFuture<()> {
        self.marked.lock().unwrap().insert(key.to_owned());
        if self.hangs { Box::pin(pending()) } else { Box::pin(ready(())) }
    }

    fn seen(&self, key: &str) -> BoxFuture<bool> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let seen = self.marked.lock().unwrap().contains(key);
        if self.hangs { Box::pin(pending()) } else { Box::pin(ready(seen)) }
    }
}

struct House {
    receiver: Receiver,
    store: Arc<FaultyStore>,
    hint: Arc<TestHint>,
    ability: Ability,
}

impl House {
    fn build(hangs: bool, ability: Ability, faults: &[(&'static str, Fault)]) -> Self {
        let store = Arc::new(FaultyStore::new(faults));
        let hint = Arc::new(TestHint { hangs, ..TestHint::default() });
        Self::over(store, hint, ability, vec![Subscriber::reply()])
    }

    fn over(
        store: Arc<FaultyStore>,
        hint: Arc<TestHint>,
        ability: Ability,
        subscribers: Vec<Subscriber>,
    ) -> Self {
        let world = Arc::new(TestWorld::new(1, TestProvider::new()));
        let policy = Policy::profile("strict").unwrap();
        let config = ProviderConfig { host: "whatsapp".into(), port: 80, access_token: "t".into(), ability };
        let Parts { protocol, .. } = assemble(world.clone(), store.clone(), policy, config, Metrics::new());
        let endpoint = Endpoint {
            provider: "meta".into(),
            scheme: Scheme::Hub,
            secret: "s".into(),
            verify_token: None,
            instance: "loja-1".into(),
            subscribers,
        };
        let inbound = Inbound { endpoints: vec![endpoint], hint: hint.clone() };
        let receiver = Receiver::new(world, protocol.ledger, protocol.policy, protocol.metrics, inbound);
        Self { receiver, store, hint, ability }
    }

    /// The next release over the same store and hint, in which one more acts.
    fn with_another(&self) -> Self {
        let team = Subscriber { name: "team".into(), to: Some("55".into()), lead: String::new() };
        Self::over(self.store.clone(), self.hint.clone(), self.ability, vec![Subscriber::reply(), team])
    }

    fn with(faults: &[(&'static str, Fault)]) -> Self {
        Self::build(false, Ability::Opaque, faults)
    }

    async fn deliver(&self, body: &Value) -> Result<Value, Problem> {
        let body = Bytes::from(body.to_string());
        let mut mac = Hmac::<Sha256>::new_from_slice(b"s").unwrap();
        mac.update(&body);
        let signature = hex::encode(&mac.finalize().into_bytes());
        let headers = HeaderMap::from_iter([("x-signature".parse().unwrap(), signature.parse().unwrap())]);
        let endpoint = self.receiver.endpoint("meta").unwrap();
        self.receiver.take(endpoint, &headers, &body).await
    }

    async fn refused(&self, body: &Value) -> u16 {
        let response: Response<Bytes> = self.deliver(body).await.unwrap_err().into_response();
        assert_eq!(body_of(&response)["type"], "urn:onceproof:problem:not-owned");
        response.status().as_u16()
    }

    fn is_marked(&self) -> bool {
        !self.hint.marked.lock().unwrap().is_empty()
    }
}

fn event() -> Value {
    json!({ "id": "1" })
}

fn owned(new: u32, known: u32) -> Value {
    json!({ "status": "owned", "new": new, "known": known, "dead": 0 })
}

#[tokio::test(start_paused = true)]
async fn what_is_not_confirmed_is_neither_acknowledged_nor_marked() {
    for fault in [Fault::Unreached, Fault::AnswerLost, Fault::CommandLost] {
        let house = House::with(&[("receive", fault)]);
        assert_eq!(house.refused(&event()).await, 503, "{fault:?}");
        assert!(!house.is_marked(), "{fault:?}");
        let known = u32::from(fault == Fault::AnswerLost);
        assert_eq!(house.deliver(&event()).await.unwrap(), owned(1 - known, known), "{fault:?}");
        assert!(house.is_marked());
        assert_eq!(house.store.waiting().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hit_spares_the_database_and_a_miss_does_not() {
    let house = House::with(&[]);
    assert_eq!(house.deliver(&event()).await.unwrap(), owned(1, 0));
    assert_eq!(house.deliver(&event()).await.unwrap(), json!({ "status": "known" }));
    let same_event = json!({ "id": "1", "more": true });
    assert_eq!(house.deliver(&same_event).await.unwrap(), owned(0, 1), "other bytes, the same event");
    house.hint.marked.lock().unwrap().clear();
    assert_eq!(house.deliver(&event()).await.unwrap(), owned(0, 1), "the hint forgot");
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_hangs_costs_little_and_loses_nothing() {
    let house = House::build(true, Ability::Opaque, &[]);
    let began = tokio::time::Instant::now();
    assert_eq!(house.deliver(&event()).await.unwrap(), owned(1, 0));
    assert_eq!(began.elapsed(), Duration::from_millis(200));
}

#[tokio::test(start_paused = true)]
async fn bad_input_asks_neither_the_hint_nor_the_store() {
    let house = House::with(&[]);
    assert!(house.deliver(&json!({})).await.is_err());
    let endpoint = house.receiver.endpoint("meta").unwrap();
    assert!(house.receiver.take(endpoint, &HeaderMap::new(), &Bytes::from("{}")).await.is_err());
    assert_eq!(house.hint.asked.load(Ordering::SeqCst), 0);
    assert_eq!(house.store.waiting(), []);
}

#[tokio::test(start_paused = true)]
async fn only_an_echoing_provider_has_its_echoes_heard() {
    let status =
        |id: &str, status: &str| json!({ "id": id, "status": status, "biz_opaque_callback_data": "r" });
    let statuses = [status("m", "sent"), status("m", "read"), status("n", "failed")];
    let envelope = json!({ "entry": [{ "changes": [{ "value": { "statuses": statuses } }] }] });
    for (ability, expected) in [(Ability::Opaque, owned(3, 0)), (Ability::Echoing, owned(4, 1))] {
        let house = House::build(false, ability, &[]);
        assert_eq!(house.deliver(&envelope).await.unwrap(), expected, "{:?}", house.ability);
    }
}

fn message(id: &str) -> Value {
    json!({ "id": id, "from": "5511999990001", "text": { "body": "oi" } })
}

#[tokio::test(start_paused = true)]
async fn a_message_is_once_everybodys_and_what_is_no_message_is_nobodys() {
    let house = House::with(&[]).with_another();
    let statuses = [json!({ "id": "m", "status": "sent" })];
    let value =
        json!({ "messages": [message("1"), message("2"), json!({ "id": "3" })], "statuses": statuses });
    let envelope = json!({ "entry": [{ "changes": [{ "value": value }] }] });
    let told = house.deliver(&envelope).await.unwrap();
    assert_eq!(told, json!({ "status": "owned", "new": 5, "known": 0, "dead": 1 }));
    let first = house.deliver(&message("1")).await.unwrap();
    assert_eq!(first, owned(2, 0), "of another kind of envelope");
}

#[tokio::test(start_paused = true)]
async fn a_hint_speaks_for_the_subscribers_that_there_were() {
    let house = House::with(&[]);
    assert_eq!(house.deliver(&message("1")).await.unwrap(), owned(1, 0));
    let next = house.with_another();
    assert_eq!(next.deliver(&message("1")).await.unwrap(), owned(1, 1), "the new one has to hear of it");
    for house in [house, next] {
        assert_eq!(house.deliver(&message("1")).await.unwrap(), json!({ "status": "known" }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_no_commit_confirmed_is_not_set_for_anybody() {
    let house = House::with(&[("receive", Fault::AnswerLost)]).with_another();
    assert_eq!(house.refused(&message("1")).await, 503);
    assert!(!house.is_marked());
    assert_eq!(house.deliver(&message("1")).await.unwrap(), owned(0, 2));
}
