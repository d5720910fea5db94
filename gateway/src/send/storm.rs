//! Many small storms: two gateways, one store that fails, one provider that changes its mind, tasks that are held at
//! every point. Whatever happens, the key acts once, no answer lies, and nothing stays in flight.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::Response;
use serde_json::json;

use super::{Protocol, SendRequest};
use crate::{
    gateway::{Parts, assemble},
    message,
    metrics::{Asker, Metrics},
    points,
    policy::Policy,
    provider::{Ability, ProviderConfig},
    shutdown::Shutdown,
    store::{Slot, State},
    testing::{Behaviour, Fault, FaultyStore, TestProvider, TestWorld, body_of},
};

/// Each with every ability of the provider.
const STORMS: u64 = 300;

const SENDS: u32 = 5;

/// A linear congruential generator: the same storm for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let index = self.below(from.len() as u64);
        from[usize::try_from(index).unwrap()]
    }

    fn faults(&mut self) -> Vec<(&'static str, Fault)> {
        const COMMANDS: &[&str] = &[
            "claim",
            "mark",
            "done",
            "unknown",
            "release",
            "fence",
            "read",
            "begin-ask",
            "begin-query",
            "release-asked",
            "ask-later",
            "sweep",
        ];
        let count = self.below(12);
        let mut faults = Vec::new();
        for _ in 0..count {
            let fault = match self.below(4) {
                0 => Fault::Unreached,
                1 => Fault::AnswerLost,
                2 => Fault::CommandLost,
                _ => Fault::Late(Duration::from_millis(self.below(45_000))),
            };
            faults.push((self.pick(COMMANDS), fault));
        }
        faults
    }

    /// Where a task is held, and for how long. Between the check of the clock and the write it is no longer than the
    /// longest request age, which the protocol assumes.
    fn hold(&mut self) -> (&'static str, Duration) {
        let point = self.pick(points::ALL);
        let longest_ms = match point {
            points::AT_FIRST_BYTE => 59_000,
            _ => 150_000,
        };
        (point, Duration::from_millis(self.below(longest_ms)))
    }

    fn behaviour(&mut self) -> Behaviour {
        match self.below(6) {
            0 | 1 => Behaviour::Accepts,
            2 => Behaviour::AcceptsAfter(Duration::from_millis(self.below(15_000))),
            3 => Behaviour::ActsThenFails,
            4 => Behaviour::Refuses,
            _ => Behaviour::Unreachable,
        }
    }
}

fn gateway(world: Arc<TestWorld>, store: &Arc<FaultyStore>, ability: Ability) -> Arc<Protocol> {
    let config = ProviderConfig { host: "whatsapp".into(), port: 80, access_token: "theirs".into(), ability };
    let policy = Policy::profile("strict").unwrap();
    let Parts { protocol, sweeper, work_alarm: _ } =
        assemble(world, store.clone(), policy, config, Metrics::new());
    tokio::spawn(sweeper.run(Shutdown::never()));
    Arc::new(protocol)
}

fn request() -> SendRequest {
    let body = json!({ "to": "5511999990001", "text": "oi" });
    SendRequest {
        asker: Asker::Producer,
        slot: Some(Slot { scope: "loja-1/messages/text".into(), key: "k".into() }),
        fingerprint: crate::fingerprint::of_value(&body).unwrap(),
        order: message::text("4711", &body, 4096),
    }
}

async fn storm(seed: u64, ability: Ability) {
    let mut dice = Dice(seed);
    let provider = TestProvider::new();
    let worlds = [1, 2].map(|host| Arc::new(TestWorld::new(host, provider.clone())));
    let store = Arc::new(FaultyStore::new(&dice.faults()));
    let gateways = [0, 1].map(|index: usize| gateway(worlds[index].clone(), &store, ability));
    let mut sends = Vec::new();
    for _ in 0..SENDS {
        provider.becomes(dice.behaviour());
        let world = dice.pick(&[0, 1]);
        for _ in 0..dice.below(3) {
            let (point, held) = dice.hold();
            worlds[world].hold(point, held);
        }
        sends.push(tokio::spawn(gateways[world].clone().send(request())));
        tokio::time::sleep(Duration::from_millis(dice.below(60_000))).await;
    }
    provider.becomes(Behaviour::Accepts);
    let mut responses = Vec::new();
    for send in sends {
        responses.push(send.await.unwrap());
    }
    tokio::time::sleep(Duration::from_secs(3600)).await;
    judge(seed, ability, &provider, &store, &responses);
}

fn judge(
    seed: u64,
    ability: Ability,
    provider: &TestProvider,
    store: &FaultyStore,
    responses: &[Response<Bytes>],
) {
    let effects = provider.effects();
    assert!(effects <= 1, "storm {seed}, {ability:?}: {effects} effects");
    for response in responses.iter().filter(|it| it.status() == 200) {
        assert_eq!(effects, 1, "storm {seed}: a success without an effect");
        assert_eq!(body_of(response)["messageId"], "wamid.1", "storm {seed}");
    }
    for record in store.records() {
        let is_settled = match ability {
            Ability::Keyed { .. } => record.state == State::Done,
            // What was sent is found, sooner or later.
            Ability::Queryable if effects == 1 => record.state == State::Done,
            Ability::Queryable => record.state == State::Unknown,
            Ability::Echoing | Ability::Opaque => matches!(record.state, State::Done | State::Unknown),
        };
        assert!(is_settled, "storm {seed}, {ability:?}: {record:?}");
        assert!(record.state != State::Done || effects == 1, "storm {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_acts_once_in_every_storm() {
    let retention = Duration::from_secs(24 * 3600);
    for seed in 0..STORMS {
        storm(seed, Ability::Keyed { retention }).await;
        storm(seed, Ability::Queryable).await;
        storm(seed, Ability::Opaque).await;
    }
}
