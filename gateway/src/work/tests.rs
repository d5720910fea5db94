//! Events under a store, a provider and a clock that misbehave.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Foreman, Numbers};
use crate::{
    gateway::{Parts, assemble},
    http::Instance,
    ledger::Ledger,
    metrics::Metrics,
    points,
    policy::Policy,
    provider::{Ability, ProviderConfig},
    send::{Protocol, sent_by_word},
    shutdown::Shutdown,
    store::{
        Command, DeadFilter, DeadLetter, EventCommand, EventKey, EventReply, Item, Queue, Reply, State, Store,
    },
    testing::{Behaviour, Fault, FaultyStore, TestProvider, TestWorld},
    world::{SharedWorld, World},
};

const KEYED: Ability = Ability::Keyed { retention: Duration::from_secs(24 * 3600) };

struct House {
    world: Arc<TestWorld>,
    provider: Arc<TestProvider>,
    store: Arc<FaultyStore>,
    protocol: Arc<Protocol>,
    stop: watch::Sender<bool>,
    workers: tokio::task::JoinHandle<()>,
}

impl House {
    fn build(ability: Ability, faults: &[(&'static str, Fault)]) -> Self {
        Self::beside(1, &TestProvider::new(), &Arc::new(FaultyStore::new(faults)), ability)
    }

    /// One more gateway before the same store and provider.
    fn beside(host: u8, provider: &Arc<TestProvider>, store: &Arc<FaultyStore>, ability: Ability) -> Self {
        let (provider, store) = (provider.clone(), store.clone());
        let world = Arc::new(TestWorld::new(host, provider.clone()));
        let policy = Policy::profile("strict").unwrap();
        let config =
            ProviderConfig { host: "whatsapp".into(), port: 80, access_token: "theirs".into(), ability };
        let Parts { protocol, sweeper, work_alarm } =
            assemble(world.clone(), store.clone(), policy, config, Metrics::new());
        let protocol = Arc::new(protocol);
        tokio::spawn(sweeper.run(Shutdown::never()));
        let loja = Instance { id: "loja-1".into(), tokens: Vec::new(), phone_number_id: "4711".into() };
        let foreman = Foreman {
            world: world.clone(),
            ledger: protocol.ledger.clone(),
            alarm: work_alarm,
            protocol: protocol.clone(),
            numbers: Numbers::of(&[loja]),
        };
        let (stop, stopping) = watch::channel(false);
        let shared: SharedWorld = world.clone();
        let workers = tokio::spawn(foreman.run(Shutdown::new(&shared, stopping, protocol.policy.drain)));
        Self { world, provider, store, protocol, stop, workers }
    }

    fn ledger(&self) -> &Ledger {
        &self.protocol.ledger
    }

    async fn receive(&self, id: &str, item: &str, event: Value) {
        let key = EventKey {
            provider: "meta".into(),
            endpoint: "loja-1".into(),
            event_id: id.into(),
            item: item.into(),
            subscriber: "reply".into(),
        };
        let item = Item { key, payload: event.to_string(), error: None };
        self.ledger().receive(vec![item]).await.unwrap();
    }

    /// A message, and what became of it after so many seconds.
    async fn message(&self, seconds: u64) {
        let message = json!({ "event": "message", "from": "5511999990001", "text": "oi" });
        self.receive("wamid.in", "message", message).await;
        pass(seconds).await;
    }

    fn states(&self) -> Vec<(Queue, String)> {
        self.store.waiting().into_iter().map(|row| (row.queue, row.state)).collect()
    }

    async fn dead(&self) -> Vec<DeadLetter> {
        match self.ledger().list_dead(DeadFilter::default(), 10).await.unwrap() {
            Reply::Event(EventReply::Dead { letters, .. }) => letters,
            other => panic!("no list: {other:?}"),
        }
    }

    /// Nothing waits, nothing is dead, and this many messages were sent.
    async fn is_done(&self, effects: usize) {
        assert_eq!(self.states(), []);
        assert_eq!(self.dead().await, []);
        assert_eq!(self.provider.effects(), effects);
    }
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_is_one_message_whichever_answer_of_the_store_is_lost() {
    for step in ["receive", "lease", "complete", "claim", "mark", "done"] {
        for fault in [Fault::AnswerLost, Fault::CommandLost, Fault::Unreached] {
            let house = House::build(Ability::Opaque, &[(step, fault)]);
            let message = json!({ "event": "message", "from": "5511999990001", "text": "oi" });
            let event = json!({ "event": "other" });
            // The sender delivers until it hears 200.
            for _ in 0..2 {
                let key = EventKey {
                    provider: "meta".into(),
                    endpoint: "loja-1".into(),
                    event_id: "wamid.in".into(),
                    item: "message".into(),
                    subscriber: "reply".into(),
                };
                let item = Item { key, payload: message.to_string(), error: None };
                let _ = house.ledger().receive(vec![item]).await;
                pass(40).await;
            }
            house.receive("another", "event", event).await;
            pass(60).await;
            assert_eq!(house.provider.effects(), 1, "{step} {fault:?}");
            assert_eq!(house.states(), [], "{step} {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_send_is_dead_at_once_and_a_redrive_sends_it_once() {
    let house = House::build(Ability::Opaque, &[]);
    house.provider.becomes(Behaviour::Refuses);
    house.message(1).await;
    assert_eq!(house.states(), [(Queue::Outbox, "dead".into())]);
    let letter = house.dead().await.remove(0);
    assert_eq!((letter.about.as_str(), letter.attempts), ("meta:loja-1:wamid.in:message:reply", 1));
    assert!(letter.error.starts_with("400"), "{}", letter.error);
    house.provider.becomes(Behaviour::AcceptsAfter(Duration::from_secs(2)));
    assert_eq!(house.ledger().redrive(letter.id).await, Ok(Reply::Applied));
    assert_eq!(house.ledger().redrive(letter.id).await, Ok(Reply::Event(EventReply::NotDead)));
    pass(3).await;
    house.is_done(1).await;
    assert_eq!(house.ledger().redrive(letter.id).await, Ok(Reply::Absent));
}

#[tokio::test(start_paused = true)]
async fn five_attempts_take_fifteen_seconds_and_then_it_is_a_dead_letter() {
    let house = House::build(Ability::Opaque, &[]);
    house.provider.becomes(Behaviour::Unreachable);
    house.message(11).await;
    assert_eq!(house.states(), [(Queue::Outbox, "ready".into())]);
    pass(8).await;
    let letter = house.dead().await.remove(0);
    assert_eq!(letter.attempts, 5);
    assert!(letter.error.starts_with("503"), "{}", letter.error);
    assert_eq!(house.provider.effects(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_unknown_is_parked_until_the_operator_or_the_provider_settles_it() {
    let house = House::build(Ability::Opaque, &[]);
    house.provider.becomes(Behaviour::ActsThenFails);
    house.message(600).await;
    assert_eq!(house.states(), [(Queue::Outbox, "parked".into())]);
    let record = house.store.records().remove(0);
    let reference = record.reference.unwrap();
    let answer = sent_by_word(&record.slot, &reference);
    house.ledger().resolve_sent(&record.slot, &reference, answer).await.unwrap();
    pass(1).await;
    house.is_done(1).await;

    let house = House::build(KEYED, &[]);
    house.provider.becomes(Behaviour::ActsThenFails);
    house.message(5).await;
    assert_eq!(house.states(), [(Queue::Outbox, "parked".into())]);
    house.provider.becomes(Behaviour::Accepts);
    pass(60).await;
    house.is_done(1).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_not_sent_by_the_operators_word_is_sent_with_the_same_key() {
    let house = House::build(Ability::Opaque, &[]);
    house.provider.becomes(Behaviour::ActsThenFails);
    house.message(100).await;
    let record = house.store.records().remove(0);
    house.provider.becomes(Behaviour::Accepts);
    house.ledger().resolve_not_sent(&record.slot, &record.reference.unwrap()).await.unwrap();
    pass(1).await;
    house.is_done(2).await;
    assert_eq!(house.store.records().remove(0).slot, record.slot);
}

#[tokio::test(start_paused = true)]
async fn a_slow_worker_keeps_its_lease() {
    let house = House::build(Ability::Opaque, &[]);
    house.world.hold(points::BEFORE_OUTBOX_SEND, Duration::from_secs(300));
    house.message(299).await;
    assert_eq!(house.states(), [(Queue::Outbox, "leased".into())]);
    assert_eq!(house.store.waiting()[0].attempts, 1);
    pass(2).await;
    house.is_done(1).await;
}

#[tokio::test(start_paused = true)]
async fn an_echo_settles_an_unknown_and_one_without_a_record_is_given_up() {
    let house = House::build(Ability::Echoing, &[]);
    house.provider.becomes(Behaviour::ActsThenFails);
    house.message(5).await;
    let reference = house.store.records().remove(0).reference.unwrap();
    let echo = |reference: &str| json!({ "event": "echo", "reference": reference, "message_id": "wamid.1" });
    house.receive(&reference, "echo", echo(&reference)).await;
    pass(1).await;
    house.is_done(1).await;
    let record = house.store.records().remove(0);
    assert_eq!((record.state, record.message_id.as_deref()), (State::Done, Some("wamid.1")));

    house.receive("nobody", "echo", echo("nobody")).await;
    pass(299).await;
    assert_eq!(house.states(), [(Queue::Job, "parked".into())]);
    pass(2).await;
    house.is_done(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_that_no_worker_can_read_is_dead() {
    let house = House::build(Ability::Opaque, &[]);
    house.receive("1", "event", json!({ "event": "riddle" })).await;
    pass(1).await;
    assert_eq!(house.states(), [(Queue::Job, "dead".into())]);
    assert!(house.dead().await[0].error.contains("not an event"));
}

#[tokio::test(start_paused = true)]
async fn stopping_finishes_what_is_in_hand_and_leases_nothing_more() {
    let house = House::build(Ability::Opaque, &[]);
    house.world.hold(points::BEFORE_COMPLETE, Duration::from_secs(5));
    house.message(1).await;
    house.stop.send_replace(true);
    house.workers.await.unwrap();
    assert_eq!(house.world.elapsed_secs(), 5);
    assert_eq!(house.store.waiting().len(), 1, "the effect waits for the next life");
    assert_eq!(house.provider.effects(), 0);
}

/// What stays in hand when its time is over is handed back: nobody waits for a lease to run out.
#[tokio::test(start_paused = true)]
async fn stopping_hands_back_what_takes_longer_than_the_drain() {
    let first = House::build(Ability::Opaque, &[]);
    first.world.hold(points::BEFORE_COMPLETE, Duration::from_secs(3600));
    first.message(1).await;
    first.stop.send_replace(true);
    first.workers.await.unwrap();
    assert_eq!(first.world.elapsed_secs(), 1 + 20);
    let row = first.store.waiting().remove(0);
    assert_eq!((row.state.as_str(), row.attempts, row.due_ms), ("ready", 0, Some(21_000)), "and not counted");
    let second = House::beside(2, &first.provider, &first.store, Ability::Opaque);
    // Its clock begins anew, so that the row is due at 21 s.
    pass(22).await;
    second.is_done(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_granted_while_the_gateway_stops_is_handed_back() {
    let house = House::build(Ability::Opaque, &[]);
    pass(1).await;
    house.store.script("lease", Fault::AnsweredAfter(Duration::from_secs(1)));
    let message = json!({ "event": "message", "from": "5511999990001", "text": "oi" });
    house.receive("wamid.in", "message", message).await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    house.stop.send_replace(true);
    house.workers.await.unwrap();
    let row = house.store.waiting().remove(0);
    assert_eq!((row.queue, row.state.as_str(), row.attempts), (Queue::Job, "ready", 0));
}

#[tokio::test(start_paused = true)]
async fn twenty_deliveries_on_two_gateways_are_one_message() {
    let first = House::build(Ability::Opaque, &[]);
    let second = House::beside(2, &first.provider, &first.store, Ability::Opaque);
    let deliveries = (0..20).map(|turn| {
        let house = if turn % 2 == 0 { &first } else { &second };
        house.message(1)
    });
    futures::future::join_all(deliveries).await;
    first.is_done(1).await;
}

/// What this gateway has counted.
fn counted(house: &House, name: &str) -> u64 {
    house.protocol.metrics.totals().get(name).copied().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn attempts_retries_and_permanent_failures_are_counted() {
    let house = House::build(Ability::Opaque, &[]);
    house.provider.becomes(Behaviour::Unreachable);
    house.message(40).await;
    assert_eq!(counted(&house, "onceproof_retries_total"), 4);
    assert_eq!(counted(&house, "onceproof_permanent_failures_total"), 1);
    // The job, which was done at once, and not the send.
    assert_eq!(counted(&house, "onceproof_job_attempts_sum"), 1);
    house.provider.becomes(Behaviour::Accepts);
    let letter = house.dead().await.remove(0);
    assert_eq!(house.ledger().redrive(letter.id).await, Ok(Reply::Applied));
    pass(3).await;
    house.is_done(1).await;
    assert_eq!(counted(&house, "onceproof_job_attempts_count"), 2);
    assert_eq!(counted(&house, "onceproof_sends_total"), 6);
    let vitals = house.protocol.metrics.vitals(house.world.since_boot());
    assert_eq!(vitals.requests, 0, "no producer asked");
    assert_eq!(counted(&house, "onceproof_permanent_failures_total"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_row_whose_last_attempt_died_with_its_worker_is_a_permanent_failure() {
    let store = Arc::new(FaultyStore::new(&[]));
    let run = async |command| store.execute(Command::Event(command)).await.unwrap();
    let key = EventKey {
        provider: "meta".into(),
        endpoint: "loja-1".into(),
        event_id: "wamid.in".into(),
        item: "message".into(),
        subscriber: "reply".into(),
    };
    let items = vec![Item { key, payload: "{}".into(), error: None }];
    run(EventCommand::Receive { items, now_ms: -500, expires_ms: 1_000_000, sweep_every_ms: 1 }).await;
    for now_ms in [-500, -400, -300, -200, -100] {
        run(EventCommand::Lease { now_ms, lease_end_ms: now_ms + 99, skew_ms: 0, attempts: 5 }).await;
    }
    let house = House::beside(1, &TestProvider::new(), &store, Ability::Opaque);
    pass(1).await;
    assert_eq!(counted(&house, "onceproof_permanent_failures_total"), 1);
    assert_eq!(house.states(), [(Queue::Job, "dead".into())]);
}
