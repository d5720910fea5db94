//! What whoever watches is told.

use serde_json::Value;

use super::*;
use crate::metrics::SUMMED;

const JSON: &str = "/v1/instances/loja-1/messages/location";

impl House {
    async fn scrape(&self) -> String {
        let told = self.get("/metrics", "").await;
        assert_eq!(told.headers["content-type"], "text/plain; version=0.0.4");
        told.is(200, "").text.clone()
    }

    async fn health(&self) -> Value {
        self.get("/health", "").await.is(200, "").body.clone()
    }

    /// A send without a key.
    async fn unprotected(&self) -> Told {
        let body = json!({ "to": "5511999990001", "text": "oi" });
        self.ask(Method::POST, TEXT, "token of loja-1", None, &body).await
    }
}

/// The value of a line of the text.
#[track_caller]
fn value<'a>(text: &'a str, line: &str) -> &'a str {
    let is_it = |found: &&str| found.strip_prefix(line).is_some_and(|rest| rest.starts_with(' '));
    let line = text.lines().find(is_it).unwrap_or_else(|| panic!("no {line} in {text}"));
    line.rsplit(' ').next().unwrap()
}

fn level(health: &Value, signal: &str) -> Value {
    let signals = health["signals"].as_array().unwrap();
    signals.iter().find(|it| it["signal"] == signal).unwrap()["level"].clone()
}

#[tokio::test(start_paused = true)]
async fn every_metric_is_there_before_anything_happened() {
    let text = House::open().scrape().await;
    for name in SUMMED.into_iter().chain(["onceproof_store_up"]) {
        let family = name.trim_end_matches("_count").trim_end_matches("_sum");
        let is_timed = family == "onceproof_http_request_duration_seconds";
        // A route that was never asked has no time.
        assert_eq!(text.contains(&format!("# HELP {family} ")), !is_timed, "{name}");
    }
    assert_eq!(value(&text, "onceproof_replays_total{asker=\"producer\"}"), "0");
    assert_eq!(value(&text, "onceproof_queue_depth{queue=\"outbox\",state=\"parked\"}"), "0");
}

#[tokio::test(start_paused = true)]
async fn what_producers_do_is_counted() {
    let house = House::open();
    house.provider.becomes(Behaviour::AcceptsAfter(Duration::from_millis(300)));
    house.send("a-secret-key").await.is(200, "");
    house.send("a-secret-key").await.is(200, "");
    house
        .ask(Method::POST, TEXT, "token of loja-1", Some("a-secret-key"), &json!({}))
        .await
        .is(422, "key-reused");
    house.ask(Method::POST, JSON, "nobody", Some("k"), &json!({})).await.is(401, "unauthorized");
    house.unprotected().await.is(200, "");
    house.get("/v1/nothing", "").await.is(404, "unknown-route");
    let text = house.scrape().await;
    assert_eq!(value(&text, "onceproof_sends_total{asker=\"producer\"}"), "4");
    assert_eq!(value(&text, "onceproof_replays_total{asker=\"producer\"}"), "1");
    assert_eq!(value(&text, "onceproof_unprotected_sends_total{why=\"no-key\"}"), "1");
    // To the watcher the same content is the same message, whatever the key.
    assert_eq!(value(&text, "onceproof_escaped_duplicates_total"), "1");
    let seconds = "onceproof_http_request_duration_seconds";
    let of = |route: &str, status: &str| format!("{{route=\"{route}\",status=\"{status}\"}}");
    assert_eq!(value(&text, &format!("{seconds}_count{}", of("messages/text", "2xx"))), "3");
    assert_eq!(value(&text, &format!("{seconds}_sum{}", of("messages/text", "2xx"))), "0.6");
    assert_eq!(value(&text, &format!("{seconds}_count{}", of("messages/text", "4xx"))), "1");
    assert_eq!(value(&text, &format!("{seconds}_count{}", of("messages/location", "4xx"))), "1");
    assert_eq!(value(&text, &format!("{seconds}_count{}", of("none", "4xx"))), "1");
    for told in ["a-secret-key", "loja-1", "5511999990001", "4711", "of loja", "wamid"] {
        assert!(!text.contains(told), "{told} in {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_hangs_up_is_timed_until_then_and_its_send_counted_all_the_same() {
    let house = House::open();
    house.provider.becomes(Behaviour::AcceptsAfter(Duration::from_secs(3)));
    assert!(tokio::time::timeout(Duration::from_secs(1), house.send("k")).await.is_err());
    tokio::time::sleep(Duration::from_secs(3)).await;
    let text = house.scrape().await;
    let of = "{route=\"messages/text\",status=\"hung-up\"}";
    assert_eq!(value(&text, &format!("onceproof_http_request_duration_seconds_sum{of}")), "1");
    assert_eq!(value(&text, "onceproof_sends_total{asker=\"producer\"}"), "1");
}

#[tokio::test(start_paused = true)]
async fn what_is_unknown_is_counted_and_asked_of_the_store_once_a_second() {
    let house = House::open();
    house.unknown("k").await;
    assert_eq!(value(&house.scrape().await, "onceproof_unknown_messages"), "1");
    house.unknown("l").await;
    assert_eq!(value(&house.scrape().await, "onceproof_unknown_messages"), "1");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(value(&house.scrape().await, "onceproof_unknown_messages"), "2");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_is_told_and_hides_nothing_else() {
    let house = House::build(None, &[("census", Fault::Unreached)]);
    let text = house.scrape().await;
    assert_eq!(value(&text, "onceproof_store_up"), "0");
    assert_eq!(value(&text, "onceproof_escaped_duplicates_total"), "0");
    for name in ["onceproof_unknown_messages", "onceproof_queue_depth", "onceproof_dead_letters"] {
        assert!(!text.contains(name), "{name}");
    }
    let health = house.health().await;
    assert_eq!((&health["store"], &health["status"]), (&json!("down"), &json!("unknown")));
    assert_eq!(level(&health, "dead-letters"), "unknown");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(value(&house.scrape().await, "onceproof_store_up"), "1");
    assert_eq!(house.health().await["status"], "ok");
}

#[tokio::test(start_paused = true)]
async fn signals_are_raised_for_an_hour() {
    let house = House::open();
    for number in 0..18 {
        let body = json!({ "to": "5511999990001", "text": format!("oi {number}") });
        house.ask(Method::POST, TEXT, "token of loja-1", Some(&number.to_string()), &body).await;
    }
    house.send("k").await.is(200, "");
    house.send("k").await.is(200, "");
    assert_eq!(level(&house.health().await, "replay-rate"), "watch", "1 of 20");
    house.send("k").await.is(200, "");
    let health = house.health().await;
    assert_eq!(level(&health, "replay-rate"), "raised", "2 of 21");
    assert_eq!(level(&health, "escaped-duplicates"), "ok");
    assert_eq!(health["status"], "raised");
    house.unprotected().await.is(200, "");
    assert_eq!(level(&house.health().await, "escaped-duplicates"), "raised");
    tokio::time::sleep(Duration::from_secs(65 * 60)).await;
    assert_eq!(house.health().await["status"], "ok");
}
