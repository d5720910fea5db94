//! The gateway on real sockets, asked by a plain `reqwest::Client` (H1).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State, routing::post};
use onceproof_gateway::{
    gateway::{GatewayConfig, run_on},
    http::{Instance, serve_on},
    metrics::Metrics,
    policy::Policy,
    provider::{Ability, ProviderConfig},
    real::TokioWorld,
    spool::Spool,
    store::{EmbeddedStore, SqliteStore, State as RecordState},
    world::SharedWorld,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

/// What the tiny provider counts and does.
#[derive(Default)]
struct Provider {
    effects: AtomicU32,
    /// The status that it answers with, 0 for success.
    status: AtomicU32,
    /// The last request.
    last: Mutex<Value>,
}

async fn take(State(provider): State<Arc<Provider>>, body: Bytes) -> (StatusCode, String) {
    *provider.last.lock().unwrap() = serde_json::from_slice(&body).unwrap();
    let status = u16::try_from(provider.status.load(Ordering::SeqCst)).unwrap();
    if let Ok(status) = StatusCode::from_u16(status) {
        let error = json!({ "error": { "code": 190, "message": "no" } });
        return (status, error.to_string());
    }
    let effect = provider.effects.fetch_add(1, Ordering::SeqCst) + 1;
    let answer = json!({ "messages": [{ "id": format!("wamid.{effect}") }] });
    (StatusCode::OK, answer.to_string())
}

/// A provider and a gateway on ports of their own; both end with the test's runtime.
struct House {
    client: Client,
    port: u16,
    provider: Arc<Provider>,
    sqlite: Arc<Mutex<SqliteStore>>,
}

impl House {
    async fn build(profile: &str, ability: Ability) -> Self {
        let world: SharedWorld = TokioWorld::shared();
        let provider = Arc::new(Provider::default());
        let routes = Router::new().route("/4711/messages", post(take)).with_state(provider.clone());
        let listener = world.listen(0).await.unwrap();
        let provider_port = listener.port();
        tokio::spawn(serve_on(world.clone(), listener, routes));

        let sqlite = Arc::new(Mutex::new(SqliteStore::in_memory().unwrap()));
        let store = Arc::new(EmbeddedStore::new(sqlite.clone()));
        let config = GatewayConfig {
            policy: Policy::profile(profile).unwrap(),
            instances: vec![Instance {
                id: "loja-1".into(),
                tokens: vec!["secret".into(), "next".into()],
                phone_number_id: "4711".into(),
            }],
            account_token: Some("account".into()),
            spool: Spool::Folder(std::env::temp_dir()),
            provider: ProviderConfig {
                host: "127.0.0.1".into(),
                port: provider_port,
                access_token: "theirs".into(),
                ability,
            },
            admin_token: Some("operator".into()),
            front: None,
            inbound: None,
            metrics: Metrics::new(),
            port: 0,
        };
        let listener = world.listen(config.port).await.unwrap();
        let port = listener.port();
        tokio::spawn(run_on(world, store, config, listener));
        Self { client: Client::builder().no_proxy().build().unwrap(), port, provider, sqlite }
    }

    fn post(&self, path: &str) -> RequestBuilder {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        self.client
            .post(url)
            .bearer_auth("secret")
            .header("content-type", "application/json")
            .timeout(Duration::from_secs(20))
    }

    async fn send(&self, key: &str, body: impl Into<reqwest::Body>) -> Response {
        self.post("/v1/instances/loja-1/messages/text")
            .header("idempotency-key", key)
            .body(body)
            .send()
            .await
            .unwrap()
    }

    fn effects(&self) -> u32 {
        self.provider.effects.load(Ordering::SeqCst)
    }

    fn states(&self) -> Vec<RecordState> {
        let records = self.sqlite.lock().unwrap().records().unwrap();
        records.into_iter().map(|record| record.state).collect()
    }
}

const HELLO: &str = r#"{"to":"5511999990001","text":"oi"}"#;

async fn slug(response: Response) -> String {
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    let problem = body["type"].as_str().unwrap();
    problem.strip_prefix("urn:onceproof:problem:").unwrap().to_owned()
}

#[tokio::test]
async fn the_same_key_acts_once_and_is_replayed() {
    let house = House::build("strict", Ability::Opaque).await;
    let first = house.send("k", HELLO).await;
    assert_eq!(first.status(), 200);
    assert!(!first.headers().contains_key("x-idempotent-replay"));
    let first = first.text().await.unwrap();
    assert_eq!(first, r#"{"messageId":"wamid.1","status":"sent"}"#);

    // Another prefix, a quoted key, another spelling: the same request.
    let again = house
        .post("/api/instances/loja-1/messages/text")
        .header("idempotency-key", "\"k\"")
        .body(r#"{ "text":"oi", "to":"5511999990001" }"#)
        .send()
        .await
        .unwrap();
    assert_eq!(again.status(), 200);
    assert_eq!(again.headers()["x-idempotent-replay"], "true");
    assert_eq!(again.headers()["content-type"], "application/json");
    assert_eq!(again.text().await.unwrap(), first);

    let other = house.send("k", r#"{"to":"5511999990001","text":"x"}"#).await;
    assert_eq!(other.status(), 422);
    assert_eq!(slug(other).await, "key-reused");
    assert_eq!(house.effects(), 1);

    let reference = house.provider.last.lock().unwrap()["biz_opaque_callback_data"].clone();
    assert_eq!(reference.as_str().unwrap().len(), 32);
}

#[tokio::test]
async fn concurrent_duplicates_act_once() {
    let house = House::build("strict", Ability::Opaque).await;
    let sends = (0..20).map(|_| house.send("k", HELLO));
    for response in futures::future::join_all(sends).await {
        assert_eq!(response.status(), 200);
    }
    assert_eq!(house.effects(), 1);
}

#[tokio::test]
async fn without_a_key_nothing_is_protected() {
    let house = House::build("strict", Ability::Opaque).await;
    for _ in 0..2 {
        let response = house.post("/v1/instances/loja-1/messages/text").body(HELLO).send().await.unwrap();
        assert_eq!(response.status(), 200);
    }
    assert_eq!(house.effects(), 2);
    assert!(house.states().is_empty());
}

#[tokio::test]
async fn bad_requests_touch_no_key() {
    let house = House::build("strict", Ability::Opaque).await;
    let long = "k".repeat(256);
    let huge = format!(r#"{{"to":"5511999990001","text":"{}"}}"#, "x".repeat(1 << 20));
    for (key, body, status, expected) in [
        ("", HELLO, 400, "bad-key"),
        (long.as_str(), HELLO, 400, "bad-key"),
        ("k", "{", 400, "bad-json"),
        ("k", r#"{"to":"1","to":"1"}"#, 400, "bad-json"),
        ("k", r#"{"to":"1","text":"x"}"#, 400, "invalid-message"),
        ("k", huge.as_str(), 413, "body-too-large"),
    ] {
        let response = house.send(key, body.to_owned()).await;
        assert_eq!(response.status(), status, "{expected}");
        assert_eq!(slug(response).await, expected);
    }
    let two = house
        .post("/v1/instances/loja-1/messages/text")
        .header("idempotency-key", "a")
        .header("idempotency-key", "b")
        .body(HELLO)
        .send()
        .await
        .unwrap();
    assert_eq!(slug(two).await, "bad-key");

    let stranger = house.post("/v1/instances/loja-2/messages/text");
    let stranger = stranger.body(HELLO).send().await.unwrap();
    assert_eq!(stranger.status(), 404);
    assert_eq!(slug(stranger).await, "unknown-instance");
    let url = format!("http://127.0.0.1:{}/v1/instances/loja-1/messages/text", house.port);
    for token in ["", "secrets", "Secret"] {
        let response = house.client.post(&url).bearer_auth(token).body(HELLO);
        let response = response.send().await.unwrap();
        assert_eq!(response.status(), 401);
        assert_eq!(slug(response).await, "unauthorized");
    }
    assert_eq!(house.effects(), 0);
    assert!(house.states().is_empty());
}

#[tokio::test]
async fn a_definite_refusal_frees_the_key() {
    let house = House::build("strict", Ability::Opaque).await;
    for (status, answered, expected) in
        [(400, 400, "message-refused"), (429, 429, "message-refused"), (401, 502, "provider-refused")]
    {
        house.provider.status.store(status, Ordering::SeqCst);
        let response = house.send("k", HELLO).await;
        assert_eq!(response.status(), answered);
        assert_eq!(slug(response).await, expected);
        assert!(house.states().is_empty());
    }
    house.provider.status.store(0, Ordering::SeqCst);
    let corrected = house.send("k", r#"{"to":"5511999990001","text":"x"}"#).await;
    assert_eq!(corrected.status(), 200);
}

#[tokio::test]
async fn an_ambiguous_answer_is_unknown_and_an_opaque_provider_leaves_it_so() {
    let house = House::build("strict", Ability::Opaque).await;
    house.provider.status.store(500, Ordering::SeqCst);
    for _ in 0..2 {
        let response = house.send("k", HELLO).await;
        assert_eq!(response.status(), 504);
        assert!(!response.headers().contains_key("x-idempotent-replay"));
        assert_eq!(slug(response).await, "outcome-unknown");
    }
    assert_eq!(house.states(), [RecordState::Unknown]);
}

#[tokio::test]
async fn a_keyed_provider_is_asked_again() {
    let retention = Duration::from_secs(24 * 3600);
    let house = House::build("strict", Ability::Keyed { retention }).await;
    house.provider.status.store(500, Ordering::SeqCst);
    let response = house.send("k", HELLO).await;
    assert_eq!(response.status(), 504);
    house.provider.status.store(0, Ordering::SeqCst);
    // The first re-ask is at once and may still meet the 500; the second comes a second later.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(house.states(), [RecordState::Done]);
    let response = house.send("k", HELLO).await;
    assert_eq!(response.headers()["x-idempotent-replay"], "true");
}

#[tokio::test]
async fn the_ietf_gateway_stores_and_replays_a_5xx() {
    let house = House::build("ietf-gateway", Ability::Opaque).await;
    house.provider.status.store(500, Ordering::SeqCst);
    let first = house.send("k", HELLO).await;
    assert_eq!(first.status(), 502);
    let again = house.send("k", HELLO).await;
    assert_eq!(again.status(), 502);
    assert_eq!(again.headers()["x-idempotent-replay"], "true");
    assert_eq!(again.text().await.unwrap(), first.text().await.unwrap());
    assert_eq!(house.states(), [RecordState::Done]);
}

#[tokio::test]
async fn what_is_not_served_is_a_problem_too() {
    let house = House::build("strict", Ability::Opaque).await;
    for (path, status, expected) in [
        ("/", 404, "unknown-route"),
        ("/v1/instances/loja-1/messages/sticker", 404, "unknown-route"),
        ("/v1/instances/%ff/messages/text", 404, "unknown-instance"),
    ] {
        let response = house.post(path).body(HELLO).send().await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(slug(response).await, expected);
    }
    let url = format!("http://127.0.0.1:{}/v1/instances/loja-1/messages/text", house.port);
    let response = house.client.get(url).send().await.unwrap();
    assert_eq!(response.status(), 405);
    assert_eq!(slug(response).await, "unknown-method");
}
