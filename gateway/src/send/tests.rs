//! The protocol under a store, a provider and a clock that misbehave.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::Response;
use serde_json::json;

use super::{Protocol, SendRequest};
use crate::{
    gateway::{Parts, assemble},
    http::{REPLAY, UNPROTECTED},
    message,
    metrics::{Asker, Metrics},
    points,
    policy::Policy,
    provider::{Ability, ProviderConfig},
    shutdown::Shutdown,
    store::{Slot, State},
    testing::{Behaviour, Fault, FaultyStore, TestProvider, TestWorld, body_of},
};

const KEYED: Ability = Ability::Keyed { retention: Duration::from_secs(24 * 3600) };

struct House {
    world: Arc<TestWorld>,
    provider: Arc<TestProvider>,
    store: Arc<FaultyStore>,
    protocol: Arc<Protocol>,
    sweeper: tokio::task::JoinHandle<()>,
    ability: Ability,
    key: &'static str,
}

fn start(
    world: &Arc<TestWorld>,
    store: &Arc<FaultyStore>,
    policy: Policy,
    ability: Ability,
) -> (Arc<Protocol>, tokio::task::JoinHandle<()>) {
    let config = ProviderConfig { host: "whatsapp".into(), port: 80, access_token: "theirs".into(), ability };
    let Parts { protocol, sweeper, work_alarm: _ } =
        assemble(world.clone(), store.clone(), policy, config, Metrics::new());
    (Arc::new(protocol), tokio::spawn(sweeper.run(Shutdown::never())))
}

impl House {
    fn build(profile: &str, ability: Ability, faults: &[(&'static str, Fault)]) -> Self {
        let provider = TestProvider::new();
        let world = Arc::new(TestWorld::new(1, provider.clone()));
        let store = Arc::new(FaultyStore::new(faults));
        let policy = Policy::profile(profile).unwrap();
        let (protocol, sweeper) = start(&world, &store, policy, ability);
        Self { world, provider, store, protocol, sweeper, ability, key: "k" }
    }

    /// Stops the gateway, and starts a `strict` one in its place that sets these fields, over the same store.
    fn upgrade(&mut self, fields: &str) {
        self.sweeper.abort();
        let policy = Policy::from_toml(fields).unwrap();
        (self.protocol, self.sweeper) = start(&self.world, &self.store, policy, self.ability);
    }

    fn strict(faults: &[(&'static str, Fault)]) -> Self {
        Self::build("strict", Ability::Opaque, faults)
    }

    fn send(&self, text: &str) -> impl Future<Output = Response<Bytes>> + use<> {
        let body = json!({ "to": "5511999990001", "text": text });
        let request = SendRequest {
            asker: Asker::Producer,
            slot: Some(Slot { scope: "loja-1/messages/text".into(), key: self.key.into() }),
            fingerprint: crate::fingerprint::of_value(&body).unwrap(),
            order: message::text("4711", &body, self.protocol.policy.text_limit),
        };
        self.protocol.clone().send(request)
    }

    /// Sends and checks status and slug (`""` for a success).
    async fn expect(&self, text: &str, status: u16, slug: &str) -> Response<Bytes> {
        let response = self.send(text).await;
        check(&response, status, slug);
        response
    }

    fn states(&self) -> Vec<State> {
        let records = self.store.records();
        records.into_iter().map(|record| record.state).collect()
    }
}

#[track_caller]
fn check(response: &Response<Bytes>, status: u16, slug: &str) {
    let body = body_of(response);
    assert_eq!(response.status(), status, "{body}");
    let problem = body["type"].as_str().unwrap_or_default();
    assert_eq!(problem.trim_start_matches("urn:onceproof:problem:"), slug, "{body}");
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

async fn pass(duration: Duration) {
    tokio::time::sleep(duration).await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_was_lost_is_taken_by_its_claim_id() {
    let house = House::strict(&[("claim", Fault::AnswerLost), ("fence", Fault::AnswerLost)]);
    house.expect("a", 200, "").await;
    assert_eq!(house.provider.effects(), 1);
    assert_eq!(house.states(), [State::Done]);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_lands_late_is_a_ghost_that_the_sweeper_removes() {
    let house = House::strict(&[("claim", Fault::Late(seconds(3)))]);
    house.provider.becomes(Behaviour::Refuses);
    house.expect("a", 400, "message-refused").await;
    pass(seconds(4)).await;
    assert_eq!(house.states(), [State::Claimed]);
    pass(seconds(36)).await;
    assert_eq!(house.states(), []);
}

#[tokio::test(start_paused = true)]
async fn a_mark_whose_answer_was_lost_is_fenced_and_dispatched_once() {
    let house = House::strict(&[("mark", Fault::AnswerLost), ("fence", Fault::CommandLost)]);
    house.expect("a", 200, "").await;
    assert_eq!(house.provider.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_was_lost_is_made_again_and_a_late_one_finds_its_token_gone() {
    for fault in [Fault::CommandLost, Fault::Late(Duration::from_millis(10))] {
        let house = House::strict(&[("mark", fault)]);
        house.expect("a", 200, "").await;
        pass(seconds(1)).await;
        assert_eq!(house.provider.effects(), 1);
        assert_eq!(house.states(), [State::Done]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_fencing_write_does_not_lose_the_claim() {
    let late = Fault::Late(Duration::from_millis(60));
    let house = House::strict(&[("mark", Fault::CommandLost), ("fence", late)]);
    house.world.hold(points::AFTER_MARK, Duration::from_millis(100));
    house.provider.becomes(Behaviour::Refuses);
    house.expect("a", 400, "message-refused").await;
    assert_eq!(house.states(), []);
}

#[tokio::test(start_paused = true)]
async fn an_unresolved_mark_dispatches_nothing_and_ends_free() {
    let mut faults = vec![("mark", Fault::AnswerLost)];
    faults.extend([("fence", Fault::CommandLost); 12]);
    let house = House::strict(&faults);
    house.expect("a", 503, "store-unavailable").await;
    assert_eq!(house.world_seconds(), 30);
    pass(seconds(300)).await;
    assert_eq!(house.provider.effects(), 0);
    assert_eq!(house.states(), []);
}

#[tokio::test(start_paused = true)]
async fn a_success_is_recorded_however_often_its_answer_is_lost() {
    let house = House::strict(&[
        ("done", Fault::AnswerLost),
        ("done", Fault::Late(seconds(1))),
        ("done", Fault::Unreached),
    ]);
    let first = house.expect("a", 200, "").await;
    let again = house.expect("a", 200, "").await;
    assert_eq!(first.body(), again.body());
    assert_eq!(again.headers()[REPLAY], "true");
}

#[tokio::test(start_paused = true)]
async fn an_answer_never_leaves_before_its_record() {
    let house = House::strict(&[("done", Fault::Unreached); 12]);
    house.expect("a", 504, "outcome-unknown").await;
    assert_eq!(house.world_seconds(), 5);
    pass(seconds(600)).await;
    assert_eq!(house.states(), [State::Done]);
    let again = house.expect("a", 200, "").await;
    assert_eq!(again.headers()[REPLAY], "true");
    assert_eq!(house.provider.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_release_whose_answer_was_lost_is_fenced() {
    for fault in [Fault::AnswerLost, Fault::CommandLost, Fault::Late(seconds(1))] {
        let house = House::strict(&[("release", fault)]);
        house.provider.becomes(Behaviour::Refuses);
        house.expect("a", 400, "message-refused").await;
        house.provider.becomes(Behaviour::Accepts);
        house.expect("b", 200, "").await;
        pass(seconds(2)).await;
        assert_eq!(house.states(), [State::Done]);
        assert_eq!(house.provider.effects(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_stops_strict_and_not_ietf() {
    let house = House::strict(&[("claim", Fault::Unreached)]);
    house.expect("a", 503, "store-unavailable").await;
    assert_eq!(house.provider.effects(), 0);

    let faults = [("claim", Fault::Unreached)];
    let house = House::build("ietf-gateway", Ability::Opaque, &faults);
    let response = house.expect("a", 200, "").await;
    assert_eq!(response.headers()[UNPROTECTED], "store-down");
    assert_eq!(house.provider.effects(), 1);
    assert_eq!(house.states(), []);
    let metrics = String::from_utf8(house.protocol.metrics.exposition(None)).unwrap();
    assert!(metrics.contains("onceproof_unprotected_sends_total{why=\"store-down\"} 1\n"), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_a_re_ask_proved_is_remembered_as_sent() {
    let mut house = House::build("strict", KEYED, &[]);
    let escaped = |house: &House| {
        house.protocol.metrics.totals().get("onceproof_escaped_duplicates_total").copied().unwrap_or(0)
    };
    house.provider.becomes(Behaviour::ActsThenFails);
    house.expect("a", 504, "outcome-unknown").await;
    house.provider.becomes(Behaviour::Accepts);
    pass(seconds(2)).await;
    assert_eq!((house.states(), escaped(&house)), (vec![State::Done], 0));
    house.key = "another";
    house.expect("a", 200, "").await;
    assert_eq!((house.provider.effects(), escaped(&house)), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_repetition_waits_five_seconds_for_the_first() {
    let house = House::strict(&[]);
    house.provider.becomes(Behaviour::AcceptsAfter(seconds(4)));
    let (first, again) = tokio::join!(house.send("a"), house.send("a"));
    check(&first, 200, "");
    check(&again, 200, "");
    assert_eq!(again.headers()[REPLAY], "true");
    assert_eq!(house.world_seconds(), 4, "woken, not polled");

    let house = House::strict(&[]);
    house.provider.becomes(Behaviour::AcceptsAfter(seconds(6)));
    let (first, again, other) = tokio::join!(house.send("a"), house.send("a"), house.send("b"));
    check(&first, 200, "");
    check(&again, 409, "in-flight");
    assert_eq!(again.headers()["retry-after"], "1");
    check(&other, 422, "key-reused");
}

#[tokio::test(start_paused = true)]
async fn a_waiting_repetition_is_compared_again_when_the_key_was_freed() {
    let house = House::strict(&[("release", Fault::CommandLost)]);
    house.world.hold(points::AFTER_DISPATCH, seconds(1));
    house.provider.becomes(Behaviour::Refuses);
    let other = async {
        pass(seconds(1)).await;
        house.provider.becomes(Behaviour::Accepts);
        loop {
            let response = house.send("b").await;
            if response.status() != 422 {
                break response;
            }
            pass(Duration::from_millis(1)).await;
        }
    };
    let (first, again, other) = tokio::join!(house.send("a"), house.send("a"), other);
    check(&first, 400, "message-refused");
    // Whichever of the two got the freed key, the other was compared with it.
    let statuses = [again.status().as_u16(), other.status().as_u16()];
    assert!(statuses == [200, 422] || statuses == [422, 200], "{statuses:?}");
    assert_eq!(house.provider.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_was_taken_over_sends_nothing() {
    let house = House::strict(&[]);
    house.world.hold(points::AFTER_CLAIM, seconds(40));
    let late = async {
        pass(seconds(36)).await;
        house.send("a").await
    };
    let (first, second) = tokio::join!(house.send("a"), late);
    check(&first, 503, "not-sent");
    check(&second, 200, "");
    assert_eq!(house.provider.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn past_the_send_deadline_nothing_is_written() {
    let house = House::strict(&[]);
    house.world.hold(points::BEFORE_DISPATCH, seconds(11));
    house.expect("a", 503, "not-sent").await;
    assert_eq!(house.provider.effects(), 0);
    assert_eq!(house.states(), []);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_cannot_be_reached_frees_the_key() {
    let house = House::strict(&[]);
    house.provider.becomes(Behaviour::Unreachable);
    house.expect("a", 503, "not-sent").await;
    house.provider.becomes(Behaviour::Accepts);
    house.expect("b", 200, "").await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_provider_leaves_the_outcome_unknown() {
    let house = House::strict(&[]);
    house.provider.becomes(Behaviour::AcceptsAfter(seconds(60)));
    let response = house.expect("a", 504, "outcome-unknown").await;
    assert_eq!(house.world_seconds(), 10);
    let reference = body_of(&response)["reference"].clone();
    let again = house.expect("a", 504, "outcome-unknown").await;
    assert_eq!(body_of(&again)["reference"], reference);
    assert!(!again.headers().contains_key(REPLAY));
    pass(seconds(3600)).await;
    assert_eq!(house.states(), [State::Unknown]);
}

#[tokio::test(start_paused = true)]
async fn a_keyed_provider_settles_an_effect_that_was_answered_500() {
    let house = House::build("strict", KEYED, &[]);
    house.provider.becomes(Behaviour::ActsThenFails);
    house.expect("a", 504, "outcome-unknown").await;
    house.provider.becomes(Behaviour::Accepts);
    pass(seconds(2)).await;
    let again = house.expect("a", 200, "").await;
    assert_eq!(again.headers()[REPLAY], "true");
    assert_eq!(house.provider.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refused_re_ask_frees_the_key_only_when_every_earlier_request_is_dead() {
    let house = House::build("strict", KEYED, &[]);
    house.provider.becomes(Behaviour::AcceptsAfter(seconds(60)));
    house.world.hold(points::AT_FIRST_BYTE, seconds(50));
    let first = tokio::spawn(house.send("a"));
    // The dispatch is frozen before its first byte; its lease lapses, and the re-ask is refused.
    pass(seconds(20)).await;
    house.provider.becomes(Behaviour::Refuses);
    pass(seconds(25)).await;
    assert_eq!(house.states(), [State::Unknown]);
    // The frozen request is refused too. A re-ask was begun, so that its refusal frees nothing.
    check(&first.await.unwrap(), 504, "outcome-unknown");
    assert_eq!(house.states(), [State::Unknown]);
    pass(seconds(90)).await;
    assert_eq!(house.states(), [], "the re-ask that was alone");
    assert_eq!(house.provider.effects(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_queryable_provider_settles_what_it_has_sent() {
    let house = House::build("strict", Ability::Queryable, &[]);
    house.provider.becomes(Behaviour::ActsThenFails);
    house.expect("a", 504, "outcome-unknown").await;
    pass(seconds(2)).await;
    let again = house.expect("a", 200, "").await;
    assert_eq!(again.headers()[REPLAY], "true");
    assert_eq!(body_of(&again)["messageId"], "wamid.1");
    assert_eq!((house.provider.effects(), house.provider.queries()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn not_found_is_not_not_sent() {
    let house = House::build("strict", Ability::Queryable, &[]);
    // The dispatch is frozen before its first byte; its lease lapses, and the provider knows nothing of it yet.
    house.world.hold(points::AT_FIRST_BYTE, seconds(59));
    let first = tokio::spawn(house.send("a"));
    pass(seconds(50)).await;
    assert!(house.provider.queries() >= 3);
    assert_eq!(house.states(), [State::Unknown]);
    house.expect("a", 504, "outcome-unknown").await;
    check(&first.await.unwrap(), 200, "");
    pass(seconds(3600)).await;
    assert_eq!(house.states(), [State::Done]);
    assert_eq!(house.provider.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_never_found_stays_unknown_and_is_not_asked_for_for_ever() {
    let house = House::build("strict", Ability::Queryable, &[]);
    house.provider.becomes(Behaviour::ActsUnseen);
    house.expect("a", 504, "outcome-unknown").await;
    pass(seconds(75 + 6 * 60)).await;
    let queries = house.provider.queries();
    assert!((8..=16).contains(&queries), "{queries}");
    pass(seconds(7 * 24 * 3600)).await;
    assert_eq!(house.provider.queries(), queries, "idle time costs nothing");
    assert_eq!(house.states(), [State::Unknown]);
    house.expect("a", 504, "outcome-unknown").await;
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_comes_back_after_an_hour_is_still_asked() {
    let house = House::build("strict", Ability::Queryable, &[]);
    house.provider.becomes(Behaviour::ActsThenFails);
    let first = tokio::spawn(house.send("a"));
    pass(Duration::from_millis(1)).await;
    house.provider.becomes(Behaviour::Unreachable);
    house.world.hold(points::BEFORE_QUERY, seconds(3600));
    check(&first.await.unwrap(), 504, "outcome-unknown");
    pass(seconds(3600)).await;
    house.provider.becomes(Behaviour::Accepts);
    pass(seconds(120)).await;
    assert_eq!(house.states(), [State::Done]);
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_comes_back_late_asks_more_than_once() {
    let mut house = House::build("strict", Ability::Queryable, &[]);
    house.sweeper.abort();
    house.provider.becomes(Behaviour::ActsUnseen);
    house.expect("a", 504, "outcome-unknown").await;
    pass(seconds(3600)).await;
    house.upgrade("");
    pass(seconds(24 * 3600)).await;
    assert_eq!(house.provider.queries(), 8);
    assert_eq!(house.states(), [State::Unknown]);
}

#[tokio::test(start_paused = true)]
async fn the_claims_own_refusal_frees_the_key_while_only_queries_were_made() {
    let house = House::build("strict", Ability::Queryable, &[]);
    house.provider.becomes(Behaviour::Refuses);
    house.world.hold(points::AT_FIRST_BYTE, seconds(50));
    let first = tokio::spawn(house.send("a"));
    pass(seconds(45)).await;
    assert_eq!(house.states(), [State::Unknown]);
    assert!(house.provider.queries() > 0);
    check(&first.await.unwrap(), 400, "message-refused");
    assert_eq!(house.states(), []);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_was_marked_late_is_not_judged_while_its_dispatch_is_in_time() {
    let house = House::strict(&[]);
    house.world.hold(points::AFTER_CLAIM, seconds(29));
    house.provider.becomes(Behaviour::AcceptsAfter(seconds(8)));
    let first = tokio::spawn(house.send("a"));
    pass(seconds(36)).await;
    assert_eq!(house.states(), [State::Dispatching], "its first lease ended at 30 s, and the skew at 35 s");
    check(&first.await.unwrap(), 200, "");
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_never_left_is_done_without_and_one_in_doubt_is_not() {
    let house = House::build("ietf-gateway", Ability::Opaque, &[("mark", Fault::Unreached)]);
    let response = house.expect("a", 200, "").await;
    assert_eq!(response.headers()[UNPROTECTED], "store-down");
    assert_eq!((house.provider.effects(), house.states()), (1, vec![]));

    let house = House::strict(&[("mark", Fault::Unreached)]);
    house.expect("a", 503, "store-unavailable").await;
    assert_eq!((house.provider.effects(), house.states()), (0, vec![]));

    let mut faults = vec![("mark", Fault::AnswerLost)];
    faults.extend([("fence", Fault::CommandLost); 12]);
    let house = House::build("ietf-gateway", Ability::Opaque, &faults);
    house.expect("a", 503, "store-unavailable").await;
    assert_eq!(house.provider.effects(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stricter_release_still_replays() {
    let mut house = House::strict(&[]);
    house.expect("four", 200, "").await;
    house.upgrade("text_limit = 3");
    assert_eq!(house.expect("four", 200, "").await.headers()[REPLAY], "true");
    house.key = "fresh";
    house.expect("four", 400, "invalid-message").await;
    assert_eq!(house.provider.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_route_of_a_longer_ttl_replays_for_longer() {
    let mut house = House::strict(&[]);
    house.upgrade("ttl_by_route = { \"messages/text\" = \"7d\" }");
    house.expect("a", 200, "").await;
    pass(seconds(7 * 24 * 3600 - 1)).await;
    house.expect("a", 200, "").await;
    pass(seconds(2)).await;
    house.expect("a", 410, "key-expired").await;
    pass(seconds(30 * 24 * 3600 - 60)).await;
    house.expect("a", 410, "key-expired").await;
}

#[tokio::test(start_paused = true)]
async fn an_ability_that_was_lost_leaves_nothing_to_poll() {
    let mut house = House::build("strict", KEYED, &[]);
    house.provider.becomes(Behaviour::ActsThenFails);
    house.expect("a", 504, "outcome-unknown").await;
    house.ability = Ability::Opaque;
    house.upgrade("");
    pass(seconds(24 * 3600)).await;
    assert_eq!(house.states(), [State::Unknown]);
    assert_eq!(house.store.records()[0].due_ms, None);
}

#[tokio::test(start_paused = true)]
async fn the_provider_is_not_asked_past_its_retention() {
    let house = House::build("strict", KEYED, &[]);
    house.provider.becomes(Behaviour::ActsThenFails);
    house.expect("a", 504, "outcome-unknown").await;
    pass(seconds(25 * 3600)).await;
    house.provider.becomes(Behaviour::Accepts);
    pass(seconds(3600)).await;
    assert_eq!(house.states(), [State::Unknown]);
    assert_eq!(house.provider.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_becomes_a_tombstone_and_then_nothing() {
    let house = House::strict(&[]);
    pass(seconds(60)).await;
    house.expect("a", 200, "").await;
    pass(seconds(24 * 3600 - 1)).await;
    house.expect("a", 200, "").await;
    pass(seconds(2)).await;
    let gone = house.expect("a", 410, "key-expired").await;
    assert_eq!(body_of(&gone)["messageId"], "wamid.1");
    assert_eq!(house.states(), [State::Done], "not swept, and expired all the same");
    pass(seconds(3600)).await;
    house.expect("a", 410, "key-expired").await;
    assert_eq!(house.states(), [State::Tombstone]);
    house.expect("b", 422, "key-reused").await;
    pass(seconds(30 * 24 * 3600)).await;
    assert_eq!(house.states(), []);

    let house = House::build("zap", Ability::Opaque, &[]);
    house.expect("a", 200, "").await;
    pass(seconds(24 * 3600)).await;
    house.expect("a", 200, "").await;
    assert_eq!(house.provider.effects(), 2);
}

impl House {
    fn world_seconds(&self) -> u64 {
        use crate::world::World;
        self.world.since_boot().as_secs()
    }
}
