//! Plans drawn from a seed, to see whether the same seed gives the same bytes.
//!
//! They send, deliver, and hurt everything that the engine can hurt: crashes and restarts, cuts, freezes, slow links, lost
//! and late messages, a database that dies, a Redis that forgets, clocks that are wrong.

use super::{
    CutMode, Deliver, Expectations, Fault, Link, Message, Offset, Plan, Scenario, Send, Span, Step, WorldSpec,
};
use crate::{history::Ability, sim::chance::Chance};

/// The plan with this seed.
#[must_use]
pub fn sample(seed: u64) -> Plan {
    let mut chance = Chance::new(seed, "plan");
    let gateways = chance.between(1, 2) as u32;
    let profiles = ["strict", "zap", "ietf-gateway"];
    let abilities = [Ability::Keyed, Ability::Queryable, Ability::Opaque];
    let world = WorldSpec {
        profiles: vec![pick(&mut chance, &profiles).to_string()],
        abilities: vec![*pick(&mut chance, &abilities)],
        gateways,
        policy: Default::default(),
        redis: chance.between(0, 1) == 0,
        key_retention: Span::from_ms(24 * 60 * 60 * 1000),
        producer: Default::default(),
        seed: Some(seed),
        shrink_time_by: 1,
    };
    let steps = (0..chance.between(1, 3)).map(|number| step(&mut chance, number, gateways)).collect();
    let faults = (0..chance.between(1, 3)).map(|_| fault(&mut chance, gateways, world.redis)).collect();
    let scenario = Scenario {
        title: format!("Drawn from seed {seed}"),
        story: "Sends, events, and faults of every kind, at random.".into(),
        rules: vec!["H1".into()],
        world,
        steps,
        answers: Vec::new(),
        faults,
        vary: Default::default(),
        expect: Expectations::default(),
    };
    Plan { name: format!("sample-{seed}"), variant: String::new(), scenario }
}

fn pick<'a, T>(chance: &mut Chance, items: &'a [T]) -> &'a T {
    &items[chance.between(0, items.len() as u64 - 1) as usize]
}

fn step(chance: &mut Chance, number: u64, gateways: u32) -> Step {
    let via = (1..=gateways).map(|number| format!("gateway-{number}")).collect();
    let at = Span::from_ms(chance.between(0, 5_000));
    let (op, times) = (format!("op-{number}"), chance.between(1, 4) as u32);
    if chance.between(0, 2) == 0 {
        let mut deliver = Deliver::message(&op, "5511999990001", "Qual o prazo?");
        deliver.times = times;
        deliver.via = via;
        return Step { at, deliver: Some(deliver), ..Step::default() };
    }
    let mut send = Send::new(&op, "5511999990001", "Seu carrinho espera");
    send.times = times;
    send.via = via;
    Step { at, send: Some(send), ..Step::default() }
}

fn fault(chance: &mut Chance, gateways: u32, redis: bool) -> Fault {
    let gateway = format!("gateway-{}", chance.between(1, u64::from(gateways)));
    let at = Some(Span::from_ms(chance.between(0, 6_000)));
    let lasts = Some(Span::from_ms(chance.between(10, 40_000)));
    let nth = chance.between(1, 6) as u32;
    let links = [("producer", &*gateway), (&*gateway, "database"), (&*gateway, "whatsapp")];
    let (one, other) = *pick(chance, &links);
    let (from, to) = if chance.between(0, 1) == 0 { (one, other) } else { (other, one) };
    let message = Message { from: from.into(), to: to.into(), nth };
    let none = Fault::default();
    match chance.between(0, 11) {
        0..=2 => {
            let silent = Some(chance.between(0, 1) == 0);
            Fault { at, crash: Some(gateway.clone()), silent, restart: lasts, ..none }
        }
        3 | 4 => {
            let link = Link { from: from.into(), to: to.into(), both: chance.between(0, 1) == 0 };
            let mode = Some(*pick(chance, &[CutMode::Held, CutMode::Lost]));
            Fault { at, cut: Some(link), mode, heal: lasts, ..none }
        }
        5 => Fault { at, freeze: Some(gateway.clone()), thaw: lasts, ..none },
        6 => Fault { lose: Some(message), ..none },
        7 => {
            let silent = Some(chance.between(0, 1) == 0);
            Fault { at, crash: Some("database".into()), silent, restart: lasts, ..none }
        }
        8 => {
            let link = Link { from: gateway, to: "database".into(), both: true };
            Fault {
                at,
                slow: Some(link),
                by: Some(Span::from_ms(chance.between(1, 3_000))),
                heal: lasts,
                ..none
            }
        }
        9 => {
            let offset = Offset::from_ms(chance.between(0, 600_000) as i64 - 300_000);
            Fault { at, clock: Some(gateway), offset: Some(offset), heal: lasts, ..none }
        }
        10 if redis => redis_fault(chance, at, lasts),
        _ => Fault { delay: Some(message), by: lasts, ..none },
    }
}

fn redis_fault(chance: &mut Chance, at: Option<Span>, lasts: Option<Span>) -> Fault {
    let none = Fault { at, ..Fault::default() };
    let back = Some(Span::from_ms(chance.between(1, 5_000)));
    match chance.between(0, 4) {
        0 => Fault { empty: Some("redis".into()), ..none },
        1 => Fault { evict: Some("*1*".into()), ..none },
        2 => Fault { refuse_writes: Some("redis".into()), heal: lasts, ..none },
        3 => Fault { lose_last: back, ..none },
        _ => Fault { fail_over: back, ..none },
    }
}
