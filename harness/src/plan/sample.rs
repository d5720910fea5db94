//! Plans drawn from a seed, to see whether the same seed gives the same bytes.
//!
//! They hurt everything that the engine can hurt: crashes and restarts, cuts, freezes, lost and late messages.

use super::{CutMode, Expectations, Fault, Link, Message, Plan, Scenario, Send, Span, Step, WorldSpec};
use crate::{history::Ability, sim::chance::Chance};

/// The plan with this seed.
#[must_use]
pub fn sample(seed: u64) -> Plan {
    let mut chance = Chance::new(seed, "plan");
    let gateways = chance.between(1, 2) as u32;
    let profiles = ["strict", "zap", "ietf-gateway"];
    let abilities = [Ability::Keyed, Ability::Opaque];
    let world = WorldSpec {
        profiles: vec![pick(&mut chance, &profiles).to_string()],
        abilities: vec![*pick(&mut chance, &abilities)],
        gateways,
        policy: Default::default(),
        key_retention: Span::from_ms(24 * 60 * 60 * 1000),
        producer: Default::default(),
        seed: Some(seed),
        shrink_time_by: 1,
    };
    let steps = (0..chance.between(1, 3)).map(|number| step(&mut chance, number, gateways)).collect();
    let faults = (0..chance.between(1, 3)).map(|_| fault(&mut chance, gateways)).collect();
    let scenario = Scenario {
        title: format!("Drawn from seed {seed}"),
        story: "Sends, and faults of every kind, at random.".into(),
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
    let mut send = Send::new(&format!("op-{number}"), "5511999990001", "Seu carrinho espera");
    send.times = chance.between(1, 4) as u32;
    send.via = via;
    Step { at: Span::from_ms(chance.between(0, 5_000)), send: Some(send), ..Step::default() }
}

fn fault(chance: &mut Chance, gateways: u32) -> Fault {
    let gateway = format!("gateway-{}", chance.between(1, u64::from(gateways)));
    let at = Some(Span::from_ms(chance.between(0, 6_000)));
    let lasts = Some(Span::from_ms(chance.between(10, 40_000)));
    let nth = chance.between(1, 6) as u32;
    let links = [("producer", &*gateway), (&*gateway, "database"), (&*gateway, "whatsapp")];
    let (one, other) = *pick(chance, &links);
    let (from, to) = if chance.between(0, 1) == 0 { (one, other) } else { (other, one) };
    let message = Message { from: from.into(), to: to.into(), nth };
    let none = Fault::default();
    match chance.between(0, 7) {
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
        _ => Fault { delay: Some(message), by: lasts, ..none },
    }
}
