//! Webhooks over real sockets: from the signed bytes to the reply at the provider.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::post};
use hmac::{Hmac, KeyInit, Mac};
use onceproof_gateway::{
    gateway::{GatewayConfig, run_on},
    http::{Instance, serve_on},
    inbound::{Endpoint, Inbound, Scheme, Subscriber},
    metrics::Metrics,
    policy::Policy,
    provider::{Ability, ProviderConfig},
    real::TokioWorld,
    spool::Spool,
    store::{EmbeddedStore, SqliteStore},
    world::SharedWorld,
};
use reqwest::{Client, Response};
use serde_json::{Value, json};
use sha2::Sha256;

const SECRET: &str = "s3cret";

#[derive(Default)]
struct Provider {
    bodies: Mutex<Vec<Value>>,
    /// What it answers, in order; then it accepts.
    statuses: Mutex<Vec<u16>>,
}

async fn take(State(provider): State<Arc<Provider>>, body: Bytes) -> (StatusCode, String) {
    let scripted = provider.statuses.lock().unwrap().pop();
    if let Some(status) = scripted {
        let refusal = json!({ "error": { "code": 1, "message": "no" } });
        return (StatusCode::from_u16(status).unwrap(), refusal.to_string());
    }
    let mut bodies = provider.bodies.lock().unwrap();
    bodies.push(serde_json::from_slice(&body).unwrap());
    (StatusCode::OK, json!({ "messages": [{ "id": format!("wamid.out.{}", bodies.len()) }] }).to_string())
}

struct House {
    client: Client,
    port: u16,
    provider: Arc<Provider>,
}

fn endpoint(provider: &str, scheme: Scheme) -> Endpoint {
    Endpoint {
        provider: provider.into(),
        scheme,
        secret: SECRET.into(),
        verify_token: Some("verify".into()),
        instance: "loja-1".into(),
        subscribers: vec![Subscriber::reply()],
    }
}

impl House {
    async fn build() -> Self {
        let world: SharedWorld = TokioWorld::shared();
        let provider = Arc::new(Provider::default());
        let routes = Router::new().route("/4711/messages", post(take)).with_state(provider.clone());
        let listener = world.listen(0).await.unwrap();
        let provider_port = listener.port();
        tokio::spawn(serve_on(world.clone(), listener, routes));
        let store = EmbeddedStore::new(Arc::new(Mutex::new(SqliteStore::in_memory().unwrap())));
        let config = GatewayConfig {
            policy: Policy::profile("strict").unwrap(),
            instances: vec![Instance {
                id: "loja-1".into(),
                tokens: vec!["secret".into()],
                phone_number_id: "4711".into(),
            }],
            account_token: None,
            spool: Spool::Memory,
            provider: ProviderConfig {
                host: "127.0.0.1".into(),
                port: provider_port,
                access_token: "theirs".into(),
                ability: Ability::Opaque,
            },
            admin_token: Some("operator".into()),
            front: None,
            inbound: Some(Inbound::new(vec![
                endpoint("meta", Scheme::Hub),
                endpoint("stripe", Scheme::Stripe),
                endpoint("standard", Scheme::StandardWebhooks),
            ])),
            metrics: Metrics::new(),
            port: 0,
        };
        let listener = world.listen(0).await.unwrap();
        let port = listener.port();
        tokio::spawn(run_on(world, Arc::new(store), config, listener));
        Self { client: Client::builder().no_proxy().build().unwrap(), port, provider }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    async fn post(&self, body: &[u8], signature: &str) -> Response {
        let request = self.client.post(self.url("/webhooks/meta")).header("x-hub-signature-256", signature);
        request.body(body.to_vec()).send().await.unwrap()
    }

    async fn deliver(&self, body: &Value) -> Response {
        let body = body.to_string();
        self.post(body.as_bytes(), &format!("sha256={}", sign(body.as_bytes()))).await
    }

    /// What the provider has, once it has `count` messages.
    async fn replies(&self, count: usize) -> Vec<String> {
        // A busy machine takes its time.
        for _ in 0..6000 {
            if self.provider.bodies.lock().unwrap().len() >= count {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // What would come twice would come now.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let bodies = self.provider.bodies.lock().unwrap();
        let mut texts: Vec<String> =
            bodies.iter().map(|body| body["text"]["body"].as_str().unwrap().to_owned()).collect();
        texts.sort();
        texts
    }

    async fn dead_letters(&self) -> Vec<Value> {
        let request = self.client.get(self.url("/admin/dead-letters")).bearer_auth("operator");
        let mut body: Value =
            serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap();
        body["deadLetters"].as_array_mut().unwrap().drain(..).collect()
    }

    async fn redrive_all(&self, filter: &str) -> (u16, Value) {
        let request = self.client.post(self.url("/admin/dead-letters/redrive")).bearer_auth("operator");
        let response = request.body(filter.to_owned()).send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
    }

    async fn listed(&self, query: &str) -> (u16, Value) {
        let url = self.url(&format!("/admin/dead-letters{query}"));
        let response = self.client.get(url).bearer_auth("operator").send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
    }

    async fn redrive(&self, id: &Value) -> u16 {
        let url = self.url(&format!("/admin/dead-letters/{id}/redrive"));
        self.client.post(url).bearer_auth("operator").send().await.unwrap().status().as_u16()
    }
}

fn sign(body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn message(id: &str, text: &str) -> Value {
    json!({ "id": id, "from": "5511999990001", "type": "text", "text": { "body": text } })
}

fn batch(messages: &[Value]) -> Value {
    json!({ "entry": [{ "changes": [{ "value": { "messages": messages } }] }] })
}

#[tokio::test]
async fn a_message_is_answered_once_however_often_it_comes() {
    let house = House::build().await;
    for _ in 0..3 {
        assert_eq!(house.deliver(&batch(&[message("wamid.1", "olá 🛒 \"x\"")])).await.status(), 200);
    }
    assert_eq!(house.replies(1).await, ["Recebemos: olá 🛒 \"x\""]);
    assert_eq!(house.dead_letters().await, [] as [Value; 0]);
}

#[tokio::test]
async fn every_item_of_a_batch_counts_and_a_bad_one_is_a_dead_letter() {
    let house = House::build().await;
    house.deliver(&batch(&[message("wamid.1", "a")])).await;
    let value = |first: Value, id: u32| json!({ "value": { "messages": [first, message(&format!("wamid.{id}"), "b"), message(&format!("wamid.{}", id + 1), "c")] } });
    let poison = json!({ "from": "5511999990001", "type": "text", "text": { "body": "no id" } });
    let envelope = json!({ "entry": [
        { "changes": [value(message("wamid.1", "a"), 10), value(message("wamid.2", "d"), 20)] },
        { "changes": [value(poison, 30), value(message("wamid.3", "e"), 40)] },
    ] });
    let response = house.deliver(&envelope).await;
    let told: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(told, json!({ "status": "owned", "new": 10, "known": 1, "dead": 1 }));
    let response = house.deliver(&envelope).await;
    let told: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(told, json!({ "status": "owned", "new": 0, "known": 12, "dead": 0 }));
    assert_eq!(house.replies(11).await.len(), 11);
    let letters = house.dead_letters().await;
    assert_eq!(letters.len(), 1);
    assert!(letters[0]["payload"].as_str().unwrap().contains("no id"), "{letters:?}");
    assert_eq!(house.redrive(&letters[0]["id"]).await, 200);
    assert_eq!(house.redrive(&json!(999)).await, 404);
    assert_eq!(house.redrive(&json!("x")).await, 404);
}

#[tokio::test]
async fn a_thousand_updates_fit() {
    let house = House::build().await;
    let messages: Vec<Value> =
        (0..1000).map(|id| message(&format!("wamid.{id}"), &"x".repeat(1000))).collect();
    assert_eq!(house.deliver(&batch(&messages)).await.status(), 200);
    assert_eq!(house.replies(1000).await.len(), 1000);
}

#[tokio::test]
async fn bad_input_is_told_so_and_leaves_no_trace() {
    let house = House::build().await;
    let good = batch(&[message("wamid.1", "oi")]).to_string();
    for (body, signature) in [
        (good.as_bytes().to_vec(), "sha256=00".to_owned()),
        (good.as_bytes().to_vec(), String::new()),
        (good.replace("oi", "io").into_bytes(), sign(good.as_bytes())),
    ] {
        let response = house.post(&body, &signature).await;
        assert_eq!(response.status(), 400);
        let told = response.text().await.unwrap();
        assert!(told.contains("bad-signature") && !told.contains(SECRET), "{told}");
    }
    let unsigned = house.client.post(house.url("/webhooks/meta")).body(good.clone()).send().await.unwrap();
    assert_eq!(unsigned.status(), 400);
    for (body, status) in [
        (b"".to_vec(), 400),
        (b"{".to_vec(), 400),
        (b"[]".to_vec(), 400),
        (b"{}".to_vec(), 400),
        (b"7".to_vec(), 400),
        (b"\"\xff\"".to_vec(), 400),
        (b"{\"id\": \"\"}".to_vec(), 400),
        (b"{\"id\": \"a\\u0000b\"}".to_vec(), 400),
        (b"{\"id\": [1]}".to_vec(), 400),
        (b"{\"entry\": 1}".to_vec(), 400),
        (b"{\"entry\": []}".to_vec(), 400),
        (batch(&[]).to_string().into_bytes(), 400),
        (good.replacen('{', "{\"entry\":[],", 1).into_bytes(), 400),
        (good.replacen("\"id\"", "\"id\":\"wamid.0\",\"id\"", 1).into_bytes(), 400),
        (good.replacen("oi", "o\u{1}i", 1).into_bytes(), 400),
        (format!("{good}{good}").into_bytes(), 400),
        (good.as_bytes()[..good.len() - 1].to_vec(), 400),
        ("[".repeat(1000).into_bytes(), 400),
        (format!("{}{}", "{\"a\":".repeat(1000), "}".repeat(1000)).into_bytes(), 400),
        (
            good.replacen('{', &format!("{{\"more\":{}{},", "[".repeat(1000), "]".repeat(1000)), 1)
                .into_bytes(),
            400,
        ),
        (vec![b' '; 10 * 1024 * 1024], 413),
        (format!("{{\"entry\":[{}0]}}", "0,".repeat(100_000)).into_bytes(), 413),
    ] {
        let told = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
        // What is too large is read to its end, so that its sender hears why.
        let url = house.url("/webhooks/meta");
        let signature = sign(&body);
        let response =
            house.client.post(url).header("x-signature", signature).body(body).send().await.unwrap();
        assert_eq!(response.status(), status, "{told}");
        let problem: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert!(problem["type"].as_str().unwrap().starts_with("urn:onceproof:problem:"), "{told}: {problem}");
        assert!(!problem.to_string().contains(SECRET), "{told}");
    }
    let response = house.client.post(house.url("/webhooks/nobody")).body("{}").send().await.unwrap();
    assert_eq!(response.status(), 404);
    assert_eq!(house.post(good.as_bytes(), &sign(good.as_bytes())).await.status(), 200);
    assert_eq!(house.replies(1).await, ["Recebemos: oi"]);
    assert_eq!(house.dead_letters().await, [] as [Value; 0]);
}

#[tokio::test]
async fn ids_are_where_the_provider_puts_them() {
    let house = House::build().await;
    for event in [
        json!({ "id": "1", "from": "5511999990001", "text": "a" }),
        json!({ "event_id": "1", "from": "5511999990001", "text": "a" }),
        json!({ "payload": { "id": 1, "from": "5511999990001", "text": "a" } }),
        json!({ "event_id": "2", "payload": { "from": "5511999990001", "text": { "body": "b" } } }),
    ] {
        assert_eq!(house.deliver(&event).await.status(), 200);
    }
    assert_eq!(house.replies(2).await, ["Recebemos: a", "Recebemos: b"]);
}

#[tokio::test]
async fn a_handshake_echoes_the_challenge_to_whom_it_knows() {
    let house = House::build().await;
    for (query, status, body) in [
        ("?hub.mode=subscribe&hub.verify_token=verify&hub.challenge=a%2Bb", 200, Some("a+b")),
        ("?hub.mode=subscribe&hub.verify_token=verif&hub.challenge=1", 403, None),
        ("?hub.mode=unsubscribe&hub.verify_token=verify&hub.challenge=1", 403, None),
        ("?hub.mode=subscribe&hub.challenge=1", 403, None),
        ("", 403, None),
    ] {
        let url = house.url(&format!("/webhooks/meta{query}"));
        let response = house.client.get(url).send().await.unwrap();
        assert_eq!(response.status(), status, "{query}");
        let told = response.text().await.unwrap();
        assert!(body.is_none_or(|body| body == told), "{told}");
    }
    let response = house.client.get(house.url("/webhooks/nobody")).send().await.unwrap();
    assert_eq!(response.status(), 404);
}

#[tokio::test]
async fn a_status_is_told_with_the_message() {
    let house = House::build().await;
    let status = |status: &str| {
        json!({ "entry": [{ "changes": [{ "value": { "statuses": [
            { "id": "wamid.out.1", "status": status },
        ] } }] }] })
    };
    for delivery in ["read", "delivered", "read"] {
        assert_eq!(house.deliver(&status(delivery)).await.status(), 200);
    }
    house.deliver(&batch(&[message("wamid.1", "oi")])).await;
    house.replies(1).await;
    let url = house.url("/v1/messages/wamid.out.1/status");
    let response = house.client.get(url).bearer_auth("secret").send().await.unwrap();
    let told: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!((&told["status"], &told["delivery"]), (&json!("sent"), &json!("read")));
}

/// Two replies are refused, each for a reason of its own.
async fn refusing() -> House {
    let house = House::build().await;
    *house.provider.statuses.lock().unwrap() = vec![400, 404];
    for id in ["wamid.1", "wamid.2"] {
        assert_eq!(house.deliver(&batch(&[message(id, id)])).await.status(), 200);
    }
    for _ in 0..200 {
        if house.dead_letters().await.len() == 2 {
            return house;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("two sends are refused");
}

#[tokio::test]
async fn dead_letters_are_listed_and_brought_back_by_a_filter() {
    let house = refusing().await;
    let count = |(status, body): (u16, Value)| {
        assert_eq!(status, 200);
        body["deadLetters"].as_array().unwrap().len()
    };
    for (query, expected) in [
        ("", 2),
        ("?provider=meta&endpoint=loja-1&subscriber=reply", 2),
        ("?provider=stripe", 0),
        ("?errorContains=404%20message-refused", 1),
        ("?diedAfter=2000-01-01T00:00:00Z&diedBefore=2001-01-01T00:00:00Z", 0),
        ("?diedAfter=2000-01-01T00:00:00Z&limit=1", 1),
    ] {
        assert_eq!(count(house.listed(query).await), expected, "{query}");
    }
    let (_, body) = house.listed("?limit=1").await;
    assert_eq!(body["more"], true);
    assert_eq!(
        (&body["deadLetters"][0]["subscriber"], &body["deadLetters"][0]["provider"]),
        (&json!("reply"), &json!("meta"))
    );

    let told = |redriven, more| (200, json!({ "redriven": redriven, "tooOld": 0, "more": more }));
    assert_eq!(house.redrive_all(r#"{"errorContains":"404"}"#).await, told(1, false));
    assert_eq!(house.redrive_all(r#"{"errorContains":"404"}"#).await, told(0, false));
    assert_eq!(house.redrive_all("{}").await, told(1, false));
    assert_eq!(house.replies(2).await, ["Recebemos: wamid.1", "Recebemos: wamid.2"]);
    assert_eq!(house.dead_letters().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_filter_with_a_mistake_brings_nothing_back() {
    let house = refusing().await;
    for filter in [
        "",
        "[]",
        "null",
        r#"{"errorContain":"404"}"#,
        r#"{"limit":0}"#,
        r#"{"limit":501}"#,
        r#"{"limit":-1}"#,
        r#"{"provider":7}"#,
        r#"{"diedAfter":"yesterday"}"#,
        r#"{"diedBefore":1}"#,
    ] {
        let (status, body) = house.redrive_all(filter).await;
        assert_eq!((status, &body["type"]), (400, &json!("urn:onceproof:problem:bad-filter")), "{filter}");
    }
    for query in ["?errorContain=404", "?limit=0", "?limit=x", "?diedAfter=x"] {
        assert_eq!(house.listed(query).await.0, 400, "{query}");
    }
    let url = house.url("/admin/dead-letters/redrive");
    let response = house.client.post(url).bearer_auth("secret").body("{}").send().await.unwrap();
    assert_eq!(response.status(), 401, "a tenant is no operator");
    assert_eq!(house.dead_letters().await.len(), 2);
}
