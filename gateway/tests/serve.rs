//! The built binary: `serve` and `stub-provider` on free ports of the loopback address, over an empty folder.

use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use hmac::{Hmac, KeyInit, Mac};
use onceproof_gateway::store::{Queue, SqliteStore, Waiting};
use reqwest::{Client, Response};
use serde_json::Value;
use sha2::Sha256;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_onceproof-gateway");

/// A process that ends with this value.
struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
}

impl Process {
    fn start(arguments: &[&str]) -> Self {
        Self::start_saying(arguments, Stdio::inherit())
    }

    /// The same, whose words to people go there.
    fn start_saying(arguments: &[&str], said: Stdio) -> Self {
        let mut command = Command::new(BINARY);
        let command = command.args(arguments).env("LOJA_1_TOKEN", "s3cret");
        let mut child = command.stdout(Stdio::piped()).stderr(said).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listening = lines.next().unwrap().unwrap();
        let port = listening.strip_prefix("listening on http://127.0.0.1:").unwrap();
        Self { port: port.parse().unwrap(), child, lines }
    }

    /// SIGTERM, as a service manager sends it; then the exit code.
    fn terminate(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }

    /// The most memory that it ever had, in KiB.
    fn peak_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct House {
    folder: TempDir,
    provider: Process,
    gateway: Process,
    client: Client,
}

impl House {
    fn build(delay_ms: u32) -> Self {
        Self::with(delay_ms, "")
    }

    /// With these lines in its policy.
    fn with(delay_ms: u32, policy: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let delay = delay_ms.to_string();
        let provider = Process::start(&["stub-provider", "--port", "0", "--delay-ms", &delay]);
        let config = format!(
            "listen = \"127.0.0.1:0\"\nstore = \"keys.db\"\naccount_token = \"account\"\n\
             [policy]\nin_flight_wait = \"100ms\"\n{policy}\
             [provider]\nhost = \"127.0.0.1\"\nport = {}\nability = \"opaque\"\n\
             [[instance]]\nid = \"loja-1\"\nphone_number_id = \"15550001\"\ntoken_env = \"LOJA_1_TOKEN\"\n\
             [[webhook]]\nprovider = \"meta\"\nscheme = \"hub\"\nsecret = \"signs\"\ninstance = \"loja-1\"\n\
             [[webhook.subscriber]]\nname = \"reply\"\n\
             [[webhook.subscriber]]\nname = \"team\"\nto = \"5511999990099\"\nlead = \"Novo: \"\n",
            provider.port
        );
        std::fs::write(folder.path().join("gateway.toml"), config).unwrap();
        let gateway = Self::serve(&folder);
        Self { folder, provider, gateway, client: Client::builder().no_proxy().build().unwrap() }
    }

    fn serve(folder: &TempDir) -> Process {
        let config = folder.path().join("gateway.toml");
        Process::start(&["serve", "--config", config.to_str().unwrap()])
    }

    async fn post(&self, route: &str, key: &str, content_type: &str, body: Vec<u8>) -> Response {
        let url = format!("http://127.0.0.1:{}/v1/instances/loja-1/{route}", self.gateway.port);
        let request = self.client.post(url).bearer_auth("s3cret").timeout(Duration::from_secs(60));
        let request = request.header("idempotency-key", key).header("content-type", content_type);
        request.body(body).send().await.unwrap()
    }

    async fn send(&self, key: &str, body: &str) -> Response {
        self.post("messages/text", key, "application/json", body.as_bytes().to_vec()).await
    }

    /// A message comes in, and is acknowledged.
    async fn deliver(&self, id: &str) {
        let event = format!(r#"{{"id":"{id}","from":"5511999990001","text":"oi"}}"#);
        let mut mac = Hmac::<Sha256>::new_from_slice(b"signs").unwrap();
        mac.update(event.as_bytes());
        let signature: String =
            mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let url = format!("http://127.0.0.1:{}/webhooks/meta", self.gateway.port);
        let request = self.client.post(url).header("x-signature", signature).body(event);
        assert_eq!(request.send().await.unwrap().status(), 200);
    }

    /// The rows that wait in the store of a gateway that has ended.
    fn rows(&self) -> Vec<Waiting> {
        SqliteStore::at(&self.folder.path().join("keys.db")).unwrap().waiting().unwrap()
    }

    /// The next effect that the provider prints.
    fn effect(&mut self) -> String {
        self.provider.lines.next().unwrap().unwrap()
    }
}

const HELLO: &str = r#"{"to":"5511999990001","text":"oi"}"#;

async fn slug(response: Response) -> String {
    let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    body["type"].as_str().unwrap().trim_start_matches("urn:onceproof:problem:").to_owned()
}

#[tokio::test]
async fn a_key_acts_once_and_outlives_a_restart() {
    let mut house = House::build(0);
    let first = house.send("k", HELLO).await;
    assert_eq!(first.status(), 200);
    assert!(house.effect().starts_with("effect 1: wamid.1 /15550001/messages {"));
    let body = first.text().await.unwrap();
    assert_eq!(body, r#"{"messageId":"wamid.1","status":"sent"}"#);
    let again = house.send("k", HELLO).await;
    assert_eq!(again.headers()["x-idempotent-replay"], "true");
    let other = house.send("k", r#"{"to":"5511999990001","text":"x"}"#).await;
    assert_eq!((other.status().as_u16(), slug(other).await.as_str()), (422, "key-reused"));
    let bad = house.send("\"k", HELLO).await;
    assert_eq!((bad.status().as_u16(), slug(bad).await.as_str()), (400, "bad-key"));

    assert_eq!(house.gateway.terminate(), Some(0));
    house.gateway = House::serve(&house.folder);
    let again = house.send("k", HELLO).await;
    assert_eq!(again.headers()["x-idempotent-replay"], "true");
    assert_eq!(again.text().await.unwrap(), body);

    // Killed, it remembers too.
    house.gateway.child.kill().unwrap();
    house.gateway = House::serve(&house.folder);
    assert_eq!(house.send("k", HELLO).await.text().await.unwrap(), body);
    assert_eq!(house.send("l", HELLO).await.status(), 200);
    assert!(house.effect().starts_with("effect 2: wamid.2 "));
}

#[tokio::test]
async fn a_repetition_in_flight_is_told_so_and_stopping_waits_for_the_first() {
    let mut house = House::build(1500);
    let first = house.send("k", HELLO);
    let second = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let response = house.send("k", HELLO).await;
        let id = house.gateway.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        response
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.status(), 200);
    assert_eq!(second.headers()["retry-after"], "1");
    assert_eq!((second.status().as_u16(), slug(second).await.as_str()), (409, "in-flight"));
    assert_eq!(house.gateway.child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn two_subscribers_act_on_one_message_once_each() {
    let mut house = House::build(0);
    for _ in 0..2 {
        house.deliver("wamid.1").await;
    }
    let mut effects = [house.effect(), house.effect()];
    effects.sort_by_key(|effect| effect.contains("Novo: oi"));
    assert!(effects[0].contains("Recebemos: oi") && effects[0].contains("5511999990001"), "{effects:?}");
    assert!(effects[1].contains("Novo: oi") && effects[1].contains("5511999990099"), "{effects:?}");
    house.deliver("wamid.2").await;
    let effects = [house.effect(), house.effect()];
    assert!(effects[0].starts_with("effect 3") && effects[1].starts_with("effect 4"), "none was doubled");
}

#[tokio::test]
async fn stopping_finishes_the_rows_in_hand() {
    let mut house = House::build(1000);
    house.deliver("wamid.1").await;
    let (_, _) = (house.effect(), house.effect());
    assert_eq!(house.gateway.terminate(), Some(0));
    assert_eq!(house.rows(), [], "both sends were waited for, and written down");
}

#[tokio::test]
async fn stopping_hands_back_what_takes_too_long() {
    let mut house = House::with(5000, "drain = \"500ms\"\n");
    house.deliver("wamid.1").await;
    let (_, _) = (house.effect(), house.effect());
    let begun = Instant::now();
    assert_eq!(house.gateway.terminate(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(4), "it did not wait for the provider");
    let rows = house.rows();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!((row.queue, row.state.as_str(), row.attempts), (Queue::Outbox, "ready", 0));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_large_upload_is_never_in_memory() {
    let mut house = House::build(0);
    assert_eq!(house.send("k", HELLO).await.status(), 200);
    house.effect();
    let before = house.gateway.peak_kib();
    let mut body = b"--aaa\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\n5511999990001\r\n\
        --aaa\r\nContent-Disposition: form-data; name=\"file\"; filename=\"n.pdf\"\r\n\r\n"
        .to_vec();
    body.resize(body.len() + 60_000_000, b'x');
    body.extend_from_slice(b"\r\n--aaa--\r\n");
    let form = "multipart/form-data; boundary=aaa";
    let response = house.post("messages/document", "k", form, body).await;
    assert_eq!(response.status(), 200);
    assert!(house.effect().contains(r#""document":{"filename":"n.pdf","id":"media.1"}"#));
    let grown = house.gateway.peak_kib() - before;
    assert!(grown < 8 * 1024, "an upload of 60 MB took {grown} KiB");
}

#[tokio::test]
async fn a_horizon_that_is_too_short_is_told_before_it_runs() {
    let started = |policy: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("g.toml");
        let text = format!(
            "listen = \"127.0.0.1:0\"\nstore = \"keys.db\"\n{policy}\n\
             [provider]\nhost = \"127.0.0.1\"\nport = 1\nability = \"keyed\"\n"
        );
        std::fs::write(&file, text).unwrap();
        let said = std::fs::File::create(folder.path().join("said")).unwrap();
        let mut gateway = Process::start_saying(&["serve", "--config", file.to_str().unwrap()], said.into());
        assert_eq!(gateway.terminate(), Some(0));
        std::fs::read_to_string(folder.path().join("said")).unwrap()
    };
    assert_eq!(started(""), "", "strict keeps what it promises");
    let said = started("[policy]\ninbox_kept = \"5d\"\nqueue_delay = \"2h\"");
    assert!(
        said.starts_with("gives up: the id of an event is known for 5d, and the event may come or"),
        "{said}"
    );
    assert!(said.contains("be redriven for 21d 2h 5s: after that it is a second event (M3, W1)\n"), "{said}");
}

#[tokio::test]
async fn a_watcher_needs_no_token_and_sees_what_was_done() {
    let house = House::build(0);
    house.send("k", HELLO).await;
    house.send("k", HELLO).await;
    let get = async |path: &str| {
        let url = format!("http://127.0.0.1:{}{path}", house.gateway.port);
        house.client.get(url).send().await.unwrap().text().await.unwrap()
    };
    let metrics = get("/metrics").await;
    assert!(metrics.contains("onceproof_replays_total{asker=\"producer\"} 1\n"), "{metrics}");
    assert!(metrics.contains("onceproof_store_up 1\n"), "{metrics}");
    let health: Value = serde_json::from_str(&get("/health").await).unwrap();
    assert_eq!((&health["status"], &health["store"]), (&"ok".into(), &"up".into()));
}

#[test]
fn check_config_says_what_is_given_up_and_where_a_mistake_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("g.toml");
    let check = |policy: &str| {
        let text = format!(
            "store = \"keys.db\"\n{policy}\n[provider]\nhost = \"x\"\nport = 1\nability = \"opaque\"\n"
        );
        std::fs::write(&file, text).unwrap();
        let output = Command::new(BINARY).args(["check-config", file.to_str().unwrap()]).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, said, _) = check("");
    assert_eq!(code, Some(0));
    assert!(said.contains("promises: a key acts once for at least 31d"), "{said}");
    let (code, said, _) = check("profile = \"zap\"");
    assert_eq!(code, Some(0));
    assert!(said.contains("gives up: a restart forgets every key"), "{said}");
    assert!(said.contains("every route: a key is remembered for 1d, "), "{said}");
    let webhook = "[[instance]]\nid = \"a\"\nphone_number_id = \"1\"\ntoken = \"t\"\n[[webhook]]\nprovider = \"p\"\n\
                   scheme = \"hub\"\nsecret = \"s\"\ninstance = \"a\"";
    let (_, said, _) = check(webhook);
    assert!(said.contains("promises: a webhook is answered with 200 only when"), "{said}");
    assert!(said.contains("promises: an id is known for longer than its event may come or"), "{said}");
    let (_, said, _) = check(&format!("profile = \"zap\"\n{webhook}"));
    assert!(said.contains("gives up: a restart forgets events"), "{said}");
    let (code, _, refused) = check("[policy]\nlease = \"12s\"");
    assert_eq!(code, Some(64));
    assert!(refused.contains("refused: a lease of 12s"), "{refused}");
    let (code, _, mistake) = check("[policy]\nlease = \"12\"");
    assert_eq!(code, Some(64));
    assert!(mistake.contains("g.toml:3:1: `lease`: not a period"), "{mistake}");
    let output = Command::new(BINARY).arg("sreve").output().unwrap();
    assert_eq!(output.status.code(), Some(64));
}
