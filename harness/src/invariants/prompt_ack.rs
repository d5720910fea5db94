//! `prompt-ack`: a webhook is answered before its sender loses patience.

use std::collections::BTreeMap;

use crate::history::{Event, History};

use super::events::{self, Delivery};
use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::SKEW_MS;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "prompt-ack",
    kind: Kind::Liveness,
    promise: "A delivery is answered within a second, unless a fault is on its way.",
    rules: &["W6"],
    judge,
};

/// Within what time a webhook is answered (W6).
const LIMIT_MS: u64 = 1_000;

/// What strikes, and how long that is felt.
struct Disturbance<'a> {
    hosts: &'a [String],
    from_ms: u64,
    until_ms: u64,
}

fn judge(history: &History) -> Ruling {
    let mut findings = Findings::default();
    let disturbances = disturbances(history);
    for heard in events::heard(history) {
        findings.relevant();
        let delivery = heard.delivery;
        let took_ms = heard.at_ms.saturating_sub(delivery.at_ms);
        let is_prompt = heard.status.is_some() && took_ms <= LIMIT_MS;
        if is_prompt || disturbances.iter().any(|it| is_on_the_way(it, &delivery, heard.at_ms)) {
            continue;
        }
        let what = heard.status.map_or("no answer".into(), |status| format!("{status}"));
        let why = format!("a delivery of {:?} got {what} after {took_ms} ms", delivery.op);
        findings.violate(why, [delivery.index, heard.index]);
    }
    findings.ruling()
}

/// What ends is felt a while longer: whoever was cut off finds out, and opens its connections anew.
fn disturbances(history: &History) -> Vec<Disturbance<'_>> {
    let mut disturbances: Vec<Disturbance<'_>> = Vec::new();
    let mut by_fault: BTreeMap<u32, usize> = BTreeMap::new();
    for entry in &history.entries {
        match &entry.event {
            Event::Fault { fault, hosts, .. } => {
                by_fault.insert(*fault, disturbances.len());
                disturbances.push(Disturbance { hosts, from_ms: entry.at_ms, until_ms: u64::MAX });
            }
            Event::FaultEnds { fault, .. } => {
                let ended = by_fault.get(fault).and_then(|index| disturbances.get_mut(*index));
                if let Some(disturbance) = ended {
                    disturbance.until_ms = entry.at_ms.saturating_add(SKEW_MS);
                }
            }
            _ => {}
        }
    }
    disturbances
}

/// The way leads from the sender to a gateway, and from there to its stores.
fn is_on_the_way(disturbance: &Disturbance<'_>, delivery: &Delivery<'_>, until_ms: u64) -> bool {
    let way = [delivery.host, delivery.to, "database", "redis"];
    let touches = disturbance.hosts.iter().any(|host| way.contains(&host.as_str()));
    touches && disturbance.from_ms <= until_ms && delivery.at_ms <= disturbance.until_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::Build;

    fn after(ms: u64) -> Build {
        Build::new().at(100).delivery("a", 1).at(100 + ms)
    }

    #[test]
    fn an_answer_within_a_second_is_kept_whatever_it_says() {
        assert_eq!(judge(&after(1_000).acknowledged(1).history()), Ruling::Kept);
        assert_eq!(judge(&after(10).delivery_answer(1, 503).history()), Ruling::Kept);
        assert_eq!(judge(&Build::new().history()), Ruling::Inconclusive);
    }

    #[test]
    fn a_late_answer_and_none_are_breaches() {
        let late = judge(&after(1_001).acknowledged(1).history());
        assert!(late.is_violated());
        assert_eq!(late.evidence(), [0, 1]);
        assert!(judge(&after(1_000).no_response(1).history()).is_violated());
    }

    #[test]
    fn a_fault_on_the_way_excuses_and_another_does_not() {
        let on = |host: &str| after(50).fault(1, &[host]).at(1_200).no_response(1).history();
        for host in ["gateway-1", "whatsapp", "database"] {
            assert_eq!(judge(&on(host)), Ruling::Kept, "{host}");
        }
        assert!(judge(&on("gateway-2")).is_violated());
    }

    #[test]
    fn a_fault_is_felt_a_little_after_its_end_and_not_for_ever() {
        let ended = |ms| {
            let ended = Build::new().fault(1, &["database"]).fault_ends(1).at(ms).delivery("a", 1);
            ended.at(ms + 2_000).acknowledged(1).history()
        };
        assert_eq!(judge(&ended(SKEW_MS)), Ruling::Kept);
        assert!(judge(&ended(SKEW_MS + 1)).is_violated());
    }
}
