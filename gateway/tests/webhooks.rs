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
    inbound::{Endpoint, Inbound, Scheme},
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
            inbound: Some(Inbound::new(vec![
                endpoint("meta", Scheme::Hub),
                endpoint("stripe", Scheme::Stripe),
                endpoint("standard", Scheme::StandardWebhooks),
            ])),
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
        for _ in 0..200 {
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
