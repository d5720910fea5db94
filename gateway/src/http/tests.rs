//! Look-ups and the operator's routes, in paused time.

mod watch;

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, header::RETRY_AFTER};
use http_body_util::BodyExt;
use hyper::service::Service;
use serde_json::{Value, json};

use super::{Access, Api, Forms, Instance, REPLAY, Site};
use crate::{
    gateway::{Parts, assemble},
    metrics::{Metrics, Surveyor},
    policy::Policy,
    provider::{Ability, ProviderConfig},
    shutdown::Shutdown,
    spool::Spool,
    testing::{Behaviour, Fault, FaultyStore, TestProvider, TestWorld},
};

const TEXT: &str = "/v1/instances/loja-1/messages/text";

struct House {
    provider: Arc<TestProvider>,
    site: Site,
}

/// An answer, read.
struct Told {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
    /// The same, where it is no JSON.
    text: String,
}

impl Told {
    fn slug(&self) -> &str {
        self.body["type"].as_str().unwrap_or_default().trim_start_matches(super::PROBLEM_TYPE_PREFIX)
    }

    #[track_caller]
    fn is(&self, status: u16, slug: &str) -> &Self {
        assert_eq!((self.status.as_u16(), self.slug()), (status, slug), "{}", self.body);
        self
    }
}

impl House {
    fn build(admin_token: Option<&str>, faults: &[(&'static str, Fault)]) -> Self {
        let provider = TestProvider::new();
        let world = Arc::new(TestWorld::new(1, provider.clone()));
        let config = ProviderConfig {
            host: "whatsapp".into(),
            port: 80,
            access_token: "theirs".into(),
            ability: Ability::Opaque,
        };
        let policy = Policy::profile("strict").unwrap();
        let Parts { protocol, sweeper, work_alarm: _ } =
            assemble(world.clone(), Arc::new(FaultyStore::new(faults)), policy, config, Metrics::new());
        tokio::spawn(sweeper.run(Shutdown::never()));
        let instances = ["loja-1", "loja-2"].map(|id| {
            let tokens = vec![format!("token of {id}")];
            Instance { id: id.into(), tokens, phone_number_id: "4711".into() }
        });
        let api = Api {
            surveyor: Surveyor::new(world, protocol.ledger.clone()),
            protocol: Arc::new(protocol),
            access: Access::new(instances.into(), Some("account".into()), admin_token.map(str::to_owned)),
            forms: Forms::new(Spool::Memory),
            receiver: None,
        };
        Self { provider, site: Site::new(api) }
    }

    fn open() -> Self {
        Self::build(Some("operator"), &[])
    }

    async fn ask(&self, method: Method, path: &str, token: &str, key: Option<&str>, body: &Value) -> Told {
        let mut request = Request::builder().method(method).uri(path);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        let response = self.site.call(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body: Bytes = body.collect().await.unwrap().to_bytes();
        Told {
            status: head.status,
            headers: head.headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
            text: String::from_utf8(body.into()).unwrap(),
        }
    }

    async fn send(&self, key: &str) -> Told {
        let body = json!({ "to": "5511999990001", "text": "oi" });
        self.ask(Method::POST, TEXT, "token of loja-1", Some(key), &body).await
    }

    async fn get(&self, path: &str, token: &str) -> Told {
        self.ask(Method::GET, path, token, None, &Value::Null).await
    }

    async fn status(&self, id: &str) -> Told {
        self.get(&format!("/v1/messages/{id}/status"), "token of loja-1").await
    }

    async fn resolve(&self, reference: &str, word: &str) -> Told {
        let path = format!("/admin/unknown/{reference}/resolve");
        self.ask(Method::POST, &path, "operator", None, &json!({ "as": word })).await
    }

    /// A send whose outcome is unknown, by its reference. The provider acted.
    async fn unknown(&self, key: &str) -> String {
        self.provider.becomes(Behaviour::ActsThenFails);
        let told = self.send(key).await;
        told.is(504, "outcome-unknown");
        self.provider.becomes(Behaviour::Accepts);
        told.body["reference"].as_str().unwrap().to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_is_looked_up_by_whatever_its_sender_knows() {
    let house = House::open();
    house.send("\"cart/7 a\"").await.is(200, "");
    let by_key = "/v1/instances/loja-1/keys/messages%2Ftext/cart%2F7%20a/status";
    let told = house.get(by_key, "token of loja-1").await;
    let reference = told.is(200, "").body["reference"].as_str().unwrap().to_owned();
    let sent = json!({ "status": "sent", "reference": reference, "messageId": "wamid.1" });
    assert_eq!(told.body, sent);
    assert!(!told.headers.contains_key(REPLAY));
    assert_eq!(house.status(&reference).await.body, sent);
    assert_eq!(house.status("wamid.1").await.body, sent);
    tokio::time::sleep(Duration::from_secs(26 * 3600)).await;
    assert_eq!(house.status("wamid.1").await.body, sent, "a tombstone means sent");
    tokio::time::sleep(Duration::from_secs(30 * 24 * 3600)).await;
    house.status("wamid.1").await.is(404, "unknown-message");
}

#[tokio::test(start_paused = true)]
async fn a_status_follows_the_record() {
    let house = House::open();
    house.provider.becomes(Behaviour::AcceptsAfter(Duration::from_secs(8)));
    let path = "/v1/instances/loja-1/keys/messages%2Ftext/k/status";
    house.get(path, "token of loja-1").await.is(404, "unknown-message");
    let sending = house.send("k");
    let looking = async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        house.get(path, "token of loja-1").await
    };
    let (sent, looked) = tokio::join!(sending, looking);
    sent.is(200, "");
    assert_eq!((&looked.body["status"], &looked.body["messageId"]), (&json!("sending"), &Value::Null));

    let reference = house.unknown("other").await;
    let unknown = json!({ "status": "unknown", "reference": reference, "messageId": null });
    assert_eq!(house.status(&reference).await.body, unknown);
}

#[tokio::test(start_paused = true)]
async fn a_tenant_sees_only_its_own() {
    let house = House::open();
    house.send("k").await.is(200, "");
    let key = "keys/messages%2Ftext/k/status";
    let other = "token of loja-2";
    house.get("/v1/messages/wamid.1/status", other).await.is(404, "unknown-message");
    house.get(&format!("/v1/instances/loja-2/{key}"), other).await.is(404, "unknown-message");
    house.get(&format!("/v1/instances/loja-1/{key}"), other).await.is(401, "unauthorized");
    house.get(&format!("/v1/instances/loja-9/{key}"), other).await.is(404, "unknown-instance");
    for token in ["", "nobody's", "operator"] {
        house.get("/v1/messages/wamid.1/status", token).await.is(401, "unauthorized");
    }
    // The account sees what it made, and not what its tenants send.
    house.get("/v1/messages/wamid.1/status", "account").await.is(404, "unknown-message");
    house.get(&format!("/v1/instances/loja-1/{key}"), "account").await.is(401, "unauthorized");
    house.get("/v1/instances/loja-1/keys/text/k/status", "token of loja-1").await.is(404, "unknown-message");
    house.get("/v1/messages/%FF/status", other).await.is(404, "unknown-message");
    house.get("/v1/instances/loja-1/keys/%FF/k/status", "").await.is(404, "unknown-message");
}

#[tokio::test(start_paused = true)]
async fn the_account_looks_up_an_instance_whose_making_is_in_doubt() {
    let house = House::open();
    house.provider.becomes(Behaviour::Unreachable);
    let make = json!({ "name": "loja-3" });
    let path = "/v1/instances/account/keys/instances/k/status";
    let key = Some("k");
    house.ask(Method::POST, "/v1/instances", "account", key, &make).await.is(503, "not-sent");
    house.get(path, "account").await.is(404, "unknown-message");
    house.provider.becomes(Behaviour::ActsThenFails);
    let told = house.ask(Method::POST, "/v1/instances", "account", key, &make).await;
    told.is(504, "outcome-unknown");
    let reference = told.body["reference"].as_str().unwrap();
    let looked = house.get(told.body["statusUrl"].as_str().unwrap(), "account").await;
    assert_eq!(looked.is(200, "").body["status"], "unknown");
    assert_eq!(house.get(path, "account").await.body, looked.body);
    house.status(reference).await.is(404, "unknown-message");
    house.resolve(reference, "sent").await.is(200, "");
    let again = house.ask(Method::POST, "/v1/instances", "account", key, &make).await;
    assert_eq!(again.is(201, "").body["instanceId"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_look_up_takes_no_key_and_has_no_store_to_answer_without() {
    let house = House::build(None, &[("find", Fault::Unreached)]);
    let path = "/v1/messages/wamid.1/status";
    house.get(path, "token of loja-1").await.is(503, "store-unavailable");
    let told = house.ask(Method::GET, path, "token of loja-1", Some("\"bad"), &Value::Null).await;
    told.is(404, "unknown-message");
    house.ask(Method::POST, path, "token of loja-1", None, &Value::Null).await.is(405, "unknown-method");
}

#[tokio::test(start_paused = true)]
async fn the_operator_lists_what_is_unknown_and_says_what_was_sent() {
    let house = House::open();
    let reference = house.unknown("k").await;
    let listed = json!({ "more": false, "unknown": [{
        "reference": reference,
        "scope": "loja-1/messages/text",
        "key": "k",
        "since": "1970-01-01T00:00:00.000Z",
        "earliestNotSent": "1970-01-01T00:01:15.001Z",
    }] });
    assert_eq!(house.get("/admin/unknown", "operator").await.body, listed);
    house.resolve(&reference, "sent").await.is(200, "");
    assert_eq!(house.get("/admin/unknown", "operator").await.body["unknown"], json!([]));
    let again = house.send("k").await;
    assert_eq!(again.headers[REPLAY], "true");
    let answer = json!({ "messageId": null, "status": "sent", "reference": reference });
    assert_eq!(again.is(200, "").body, answer);
    assert_eq!(house.status(&reference).await.body["status"], "sent");
    house.resolve(&reference, "not-sent").await.is(409, "settled");
    house.resolve(&reference, "sent").await.is(409, "settled");
    tokio::time::sleep(Duration::from_secs(31 * 24 * 3600 - 3600)).await;
    house.send("k").await.is(410, "key-expired");
    assert_eq!(house.provider.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_operators_not_sent_is_refused_while_a_request_may_be_alive() {
    let house = House::open();
    let reference = house.unknown("k").await;
    tokio::time::sleep(Duration::from_millis(70_500)).await;
    let early = house.resolve(&reference, "not-sent").await;
    assert_eq!(early.is(409, "too-early").body["earliest"], "1970-01-01T00:01:15.001Z");
    assert_eq!(early.headers[RETRY_AFTER], "5");
    tokio::time::sleep(Duration::from_millis(4_500)).await;
    house.resolve(&reference, "not-sent").await.is(409, "too-early");
    tokio::time::sleep(Duration::from_millis(1)).await;
    house.resolve(&reference, "not-sent").await.is(200, "");
    house.resolve(&reference, "not-sent").await.is(404, "unknown-message");
    // The operator vouches for it.
    house.send("k").await.is(200, "");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_unknown_is_not_the_operators_to_settle() {
    let house = House::open();
    house.provider.becomes(Behaviour::AcceptsAfter(Duration::from_secs(8)));
    let sending = house.send("k");
    let resolving = async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        let path = "/v1/instances/loja-1/keys/messages%2Ftext/k/status";
        let looked = house.get(path, "token of loja-1").await;
        house.resolve(looked.body["reference"].as_str().unwrap(), "sent").await
    };
    let (sent, resolved) = tokio::join!(sending, resolving);
    resolved.is(404, "not-unknown");
    sent.is(200, "");
    house.resolve("wamid.1", "sent").await.is(404, "unknown-message");
    house.resolve("nothing", "not-sent").await.is(404, "unknown-message");
    house.resolve("nothing", "perhaps").await.is(400, "bad-json");
}

#[tokio::test(start_paused = true)]
async fn the_operators_routes_are_the_operators() {
    let house = House::open();
    for token in ["", "token of loja-1"] {
        house.get("/admin/unknown", token).await.is(401, "unauthorized");
        let path = "/admin/unknown/r/resolve";
        let word = json!({ "as": "sent" });
        house.ask(Method::POST, path, token, None, &word).await.is(401, "unauthorized");
    }
    let house = House::build(None, &[]);
    house.get("/admin/unknown", "").await.is(404, "unknown-route");
    house.resolve("r", "sent").await.is(404, "unknown-route");
}
