//! Every route on real sockets: JSON, forms with a file, and instances (S1, S8, S9, S13).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::Uri,
};
use onceproof_gateway::{
    gateway::{GatewayConfig, run_on},
    http::{Instance, serve_on},
    metrics::Metrics,
    policy::Policy,
    provider::{Ability, ProviderConfig},
    real::TokioWorld,
    spool::Spool,
    store::{EmbeddedStore, SqliteStore},
    world::SharedWorld,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// What the tiny provider was asked: path and body.
#[derive(Default)]
struct Provider {
    asked: Mutex<Vec<(String, Bytes)>>,
    refuses_files: AtomicBool,
}

async fn take(State(provider): State<Arc<Provider>>, uri: Uri, body: Bytes) -> (StatusCode, String) {
    let path = uri.path().to_owned();
    let mut asked = provider.asked.lock().unwrap();
    asked.push((path.clone(), body));
    let number = asked.len();
    match path.ends_with("/media") {
        true if provider.refuses_files.load(Ordering::SeqCst) => {
            (StatusCode::INTERNAL_SERVER_ERROR, String::new())
        }
        true => (StatusCode::OK, json!({ "id": format!("media.{number}") }).to_string()),
        false => (StatusCode::OK, json!({ "messages": [{ "id": format!("wamid.{number}") }] }).to_string()),
    }
}

struct House {
    client: Client,
    port: u16,
    provider: Arc<Provider>,
    sqlite: Arc<Mutex<SqliteStore>>,
}

impl House {
    async fn build() -> Self {
        let world: SharedWorld = TokioWorld::shared();
        let provider = Arc::new(Provider::default());
        let routes = Router::new().fallback(take).with_state(provider.clone());
        let routes = routes.layer(DefaultBodyLimit::disable());
        let listener = world.listen(0).await.unwrap();
        let provider_port = listener.port();
        tokio::spawn(serve_on(world.clone(), listener, routes));
        let sqlite = Arc::new(Mutex::new(SqliteStore::in_memory().unwrap()));
        let config = GatewayConfig {
            policy: Policy::profile("strict").unwrap(),
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
                ability: Ability::Opaque,
            },
            admin_token: None,
            front: None,
            inbound: None,
            metrics: Metrics::new(),
            port: 0,
        };
        let listener = world.listen(0).await.unwrap();
        let port = listener.port();
        let store = Arc::new(EmbeddedStore::new(sqlite.clone()));
        tokio::spawn(run_on(world, store, config, listener));
        Self { client: Client::builder().no_proxy().build().unwrap(), port, provider, sqlite }
    }

    fn post(&self, path: &str, token: &str) -> RequestBuilder {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        self.client.post(url).bearer_auth(token).timeout(Duration::from_secs(20))
    }

    async fn send(&self, route: &str, key: &str, body: &Value) -> Response {
        let request = self.post(&format!("/v1/instances/loja-1/{route}"), "secret");
        request.header("idempotency-key", key).body(body.to_string()).send().await.unwrap()
    }

    async fn upload(&self, route: &str, key: &str, boundary: &str, body: Vec<u8>) -> Response {
        let request = self.post(&format!("/api/instances/loja-1/{route}"), "next");
        let content_type = format!("multipart/form-data; boundary={boundary}");
        let request = request.header("idempotency-key", key).header("content-type", content_type);
        request.body(body).send().await.unwrap()
    }

    fn paths(&self) -> Vec<String> {
        self.provider.asked.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }

    fn last(&self) -> Value {
        let asked = self.provider.asked.lock().unwrap();
        serde_json::from_slice(&asked.last().unwrap().1).unwrap()
    }

    fn records(&self) -> usize {
        self.sqlite.lock().unwrap().records().unwrap().len()
    }
}

const TO: &str = "5511999990001";

fn form(boundary: &str, name: &str, file: &[u8]) -> Vec<u8> {
    let mut form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\n{TO}\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"caption\"\r\n\r\nsua nota\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/pdf\r\n\r\n"
    )
    .into_bytes();
    form.extend_from_slice(file);
    form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    form
}

async fn slug(response: Response) -> String {
    let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    body["type"].as_str().unwrap().trim_start_matches("urn:onceproof:problem:").to_owned()
}

#[tokio::test]
async fn each_route_sends_its_type_and_replays_within_its_own_scope() {
    let house = House::build().await;
    let link = "https://cdn.example/x";
    let routes = [
        ("messages", json!({"to": TO, "type": "text", "text": {"body": "oi"}}), "text"),
        ("messages/text", json!({"to": TO, "text": "oi"}), "text"),
        ("messages/media", json!({"to": TO, "url": link}), "image"),
        ("messages/audio", json!({"to": TO, "url": link}), "audio"),
        ("messages/document", json!({"to": TO, "url": link}), "document"),
        ("messages/contact", json!({"to": TO, "contact": {"name": "Ana", "phone": TO}}), "contacts"),
        ("messages/location", json!({"to": TO, "latitude": -23.5, "longitude": -46.6}), "location"),
    ];
    for (number, (route, body, kind)) in routes.iter().enumerate() {
        let first = house.send(route, "k", body).await;
        assert_eq!(first.status(), 200, "{route}");
        assert_eq!(house.last()["type"], *kind);
        assert!(!house.last()[kind].is_null());
        let again = house.send(route, "k", body).await;
        assert_eq!(again.headers()["x-idempotent-replay"], "true");
        assert_eq!(house.paths().len(), number + 1);
        let invalid = house.send(route, "other", &json!({})).await;
        assert_eq!(slug(invalid).await, "invalid-message");
        let url = format!("http://127.0.0.1:{}/api/instances/loja-1/{route}", house.port);
        assert_eq!(house.client.get(url).send().await.unwrap().status(), 405);
    }
    assert_eq!(house.records(), routes.len());
}

#[tokio::test]
async fn a_form_is_its_parts_and_not_its_boundary() {
    let house = House::build().await;
    let first = house.upload("messages/document", "k", "aaa", form("aaa", "n.pdf", b"%PDF-1")).await;
    assert_eq!(first.status(), 200);
    assert_eq!(house.paths(), ["/4711/media", "/4711/messages"]);
    let document = house.last()["document"].clone();
    assert_eq!(document, json!({"id": "media.1", "caption": "sua nota", "filename": "n.pdf"}));

    let again = house.upload("messages/document", "k", "bbb", form("bbb", "n.pdf", b"%PDF-1")).await;
    assert_eq!(again.headers()["x-idempotent-replay"], "true");
    assert_eq!(again.text().await.unwrap(), first.text().await.unwrap());
    for other in [form("aaa", "n.pdf", b"%PDF-2"), form("aaa", "m.pdf", b"%PDF-1")] {
        let response = house.upload("messages/document", "k", "aaa", other).await;
        assert_eq!(response.status(), 422);
    }
    assert_eq!(house.paths().len(), 2);
}

#[tokio::test]
async fn a_file_that_is_not_taken_frees_the_key() {
    let house = House::build().await;
    house.provider.refuses_files.store(true, Ordering::SeqCst);
    let refused = house.upload("messages/media", "k", "aaa", form("aaa", "n.pdf", b"%PDF-1")).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(slug(refused).await, "not-sent");
    house.provider.refuses_files.store(false, Ordering::SeqCst);
    let other = house.upload("messages/media", "k", "aaa", form("aaa", "n.pdf", b"%PDF-2")).await;
    assert_eq!(other.status(), 200);
    assert_eq!(house.paths(), ["/4711/media", "/4711/media", "/4711/messages"]);
}

#[tokio::test]
async fn a_large_file_arrives_whole() {
    let house = House::build().await;
    let file: Vec<u8> = (0..20_000_000_u32).map(|index| (index % 251) as u8).collect();
    let response = house.upload("messages/document", "k", "aaa", form("aaa", "n.pdf", &file)).await;
    assert_eq!(response.status(), 200);
    let asked = house.provider.asked.lock().unwrap();
    let (_, upload) = &asked[0];
    let start = upload.windows(5).position(|window| window == [0, 1, 2, 3, 4]).unwrap();
    assert!(upload[start..start + file.len()] == file[..]);
}

#[tokio::test]
async fn bad_forms_claim_nothing() {
    let house = House::build().await;
    let part = |name: &str, value: &str| {
        format!("--aaa\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let end = "--aaa--\r\n";
    let twice = format!("{}{}{end}", part("to", TO), part("to", TO));
    let two_files = format!("{}{}{end}", part("file", "x"), part("b\"; filename=\"b", "x"));
    let many: String = (0..17).map(|index| part(&index.to_string(), "x")).collect();
    let long_field = format!("{}{end}", part("to", &"1".repeat(20_000)));
    let long_header = format!("--aaa\r\nX: {}", "x".repeat(200_000));
    let nameless = format!("--aaa\r\nX: y\r\n\r\nx\r\n{end}");
    for (body, expected) in [
        (twice, "bad-form"),
        (two_files, "bad-form"),
        (format!("{many}{end}"), "bad-form"),
        (long_field, "bad-form"),
        (long_header, "bad-form"),
        (nameless, "bad-form"),
        (part("to", TO), "bad-form"),
        (String::new(), "bad-form"),
        (format!("{}{end}", part("to", TO)), "invalid-message"),
        (format!("{}{}{end}", part("to", TO), part("file", "")), "invalid-message"),
    ] {
        let response = house.upload("messages/media", "k", "aaa", body.clone().into_bytes()).await;
        assert_eq!(response.status(), 400, "{}", &body[..body.len().min(300)]);
        assert_eq!(slug(response).await, expected);
    }
    let response = house.upload("messages/text", "k", "aaa", form("aaa", "n", b"x")).await;
    assert_eq!((response.status().as_u16(), slug(response).await.as_str()), (415, "unsupported-content"));
    assert_eq!(house.records(), 0);
    assert!(house.paths().is_empty());
}

#[tokio::test]
async fn a_cut_upload_claims_nothing() {
    let house = House::build().await;
    let body = form("aaa", "n.pdf", &[b'x'; 100_000]);
    // Even the very last byte counts, though the form says that it ended before.
    for missing in [1, 2, 50_000] {
        let mut stream = TcpStream::connect(("127.0.0.1", house.port)).await.unwrap();
        let head = format!(
            "POST /v1/instances/loja-1/messages/document HTTP/1.1\r\nhost: x\r\nidempotency-key: k\r\n\
             authorization: Bearer secret\r\ncontent-type: multipart/form-data; boundary=aaa\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&body[..body.len() - missing]).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(!rest.starts_with(b"HTTP/1.1 200"));
    }
    assert_eq!(house.records(), 0);
    assert!(house.paths().is_empty());
}

#[tokio::test]
async fn over_75_mib_is_refused() {
    let house = House::build().await;
    for head in ["content-length: 78643201\r\n\r\n", "transfer-encoding: chunked\r\n\r\n"] {
        let mut stream = TcpStream::connect(("127.0.0.1", house.port)).await.unwrap();
        let start = "POST /v1/instances/loja-1/messages/media HTTP/1.1\r\nhost: x\r\nidempotency-key: k\r\n\
                     authorization: Bearer secret\r\ncontent-type: multipart/form-data; boundary=aaa\r\n";
        stream.write_all(format!("{start}{head}").as_bytes()).await.unwrap();
        if head.starts_with("transfer") {
            let part = "--aaa\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n";
            let chunk = format!("{:x}\r\n{part}\r\n", part.len());
            stream.write_all(chunk.as_bytes()).await.unwrap();
            let chunk = format!("100000\r\n{}\r\n", "x".repeat(0x10_0000));
            for _ in 0..76 {
                // The answer may come, and the connection end, before all is written.
                let _ = stream.write_all(chunk.as_bytes()).await;
            }
        }
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413");
    }
    assert_eq!(house.records(), 0);
}

#[tokio::test]
async fn a_created_instance_is_replayed_and_sends_with_the_account_token() {
    let house = House::build().await;
    let create = |token: &'static str, name: &'static str| {
        let request = house.post("/v1/instances", token).header("idempotency-key", "k");
        request.body(json!({ "name": name }).to_string()).send()
    };
    assert_eq!(create("secret", "filial").await.unwrap().status(), 401);
    let first = create("account", "filial").await.unwrap();
    assert_eq!(first.status(), 201);
    assert_eq!(first.headers()["location"], "/v1/instances/wamid.1");
    assert_eq!(house.paths(), ["/instances"]);
    assert_eq!(house.last()["name"], "filial");
    assert_eq!(house.last()["biz_opaque_callback_data"].as_str().unwrap().len(), 32);
    let again = create("account", "filial").await.unwrap();
    assert_eq!(again.status(), 201);
    assert_eq!(again.headers()["location"], "/v1/instances/wamid.1");
    assert_eq!(again.headers()["x-idempotent-replay"], "true");
    assert_eq!(again.text().await.unwrap(), r#"{"instanceId":"wamid.1","status":"created"}"#);
    assert_eq!(create("account", "matriz").await.unwrap().status(), 422);

    let status = format!("http://127.0.0.1:{}/v1/messages/wamid.1/status", house.port);
    for (token, status_code) in [("account", 200), ("secret", 404)] {
        let response = house.client.get(&status).bearer_auth(token).send().await.unwrap();
        assert_eq!(response.status(), status_code);
    }

    let path = "/v1/instances/wamid.1/messages/text";
    let body = json!({"to": TO, "text": "oi"}).to_string();
    for (token, status) in [("account", 200), ("secret", 404)] {
        let request = house.post(path, token).header("idempotency-key", "k").body(body.clone());
        assert_eq!(request.send().await.unwrap().status(), status);
    }
    assert_eq!(house.paths(), ["/instances", "/wamid.1/messages"]);
    let odd = house.post("/v1/instances/%2e%2e%2fx/messages/text", "account").body(body);
    assert_eq!(odd.send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_rotated_token_meets_the_same_key_and_a_query_is_no_key() {
    let house = House::build().await;
    let body = json!({"to": TO, "text": "oi"}).to_string();
    for (token, replays) in [("secret", false), ("next", true)] {
        let request = house.post("/v1/instances/loja-1/messages/text", token);
        let response = request.header("idempotency-key", "k").body(body.clone()).send().await.unwrap();
        assert_eq!(response.headers().contains_key("x-idempotent-replay"), replays);
    }
    for _ in 0..2 {
        let path = "/v1/instances/loja-1/messages/text?idempotency-key=q&Idempotency-Key=q";
        let response = house.post(path, "secret").body(body.clone()).send().await.unwrap();
        assert_eq!(response.status(), 200);
    }
    assert_eq!(house.paths().len(), 3);
}
