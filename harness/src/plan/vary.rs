//! One story told several times: at each of several points, silently and loudly, with one gateway and with two.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fault, Message, Scenario, Step};

/// What a placeholder stands for, in each variant. The variants are all combinations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vary {
    /// For `point = "*"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<String>,
    /// For the number in `a -> b #*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<u32>,
    /// For every crash that does not say whether it is silent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<bool>,
    /// For the number of gateways. Sends that name no gateway go to all of them in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gateways: Vec<u32>,
}

/// The placeholder of a point.
pub const ANY_POINT: &str = "*";

impl Vary {
    /// Whether there is only one variant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Scenario {
    /// Every variant and its name, which is empty where there is but one.
    #[must_use]
    pub fn variants(&self) -> Vec<(String, Self)> {
        let vary = self.vary.clone();
        let mut plain = self.clone();
        plain.vary = Vary::default();
        let mut variants = vec![(Vec::new(), plain)];
        variants = each(variants, &vary.points, |scenario, point| {
            scenario.faults.iter_mut().for_each(|fault| set_point(fault, point));
            point.clone()
        });
        variants = each(variants, &vary.messages, |scenario, nth| {
            scenario.faults.iter_mut().for_each(|fault| set_message(fault, *nth));
            format!("#{nth}")
        });
        variants = each(variants, &vary.silent, |scenario, silent| {
            let crashes = scenario.faults.iter_mut().filter(|fault| fault.crash.is_some());
            crashes.for_each(|fault| fault.silent = fault.silent.or(Some(*silent)));
            if *silent { "silent" } else { "loud" }.into()
        });
        variants = each(variants, &vary.gateways, |scenario, gateways| {
            scenario.world.gateways = *gateways;
            let all: Vec<String> = (1..=*gateways).map(|number| format!("gateway-{number}")).collect();
            let vias = scenario.steps.iter_mut().flat_map(via_of);
            vias.filter(|via| **via == all[..1]).for_each(|via| via.clone_from(&all));
            format!("{gateways} gateway{}", if *gateways == 1 { "" } else { "s" })
        });
        variants.into_iter().map(|(names, scenario)| (names.join(", "), scenario)).collect()
    }
}

/// The gateways that a step goes to in turn.
fn via_of(step: &mut Step) -> impl Iterator<Item = &mut Vec<String>> {
    let send = step.send.as_mut().map(|send| &mut send.via);
    let deliver = step.deliver.as_mut().map(|deliver| &mut deliver.via);
    let status = step.status.as_mut().map(|status| &mut status.via);
    send.into_iter().chain(deliver).chain(status)
}

/// Every variant so far, once for each value.
fn each<T>(
    variants: Vec<(Vec<String>, Scenario)>,
    values: &[T],
    set: impl Fn(&mut Scenario, &T) -> String,
) -> Vec<(Vec<String>, Scenario)> {
    if values.is_empty() {
        return variants;
    }
    let mut more = Vec::with_capacity(variants.len() * values.len());
    for (names, scenario) in variants {
        for value in values {
            let mut scenario = scenario.clone();
            let name = set(&mut scenario, value);
            more.push((names.iter().cloned().chain([name]).collect(), scenario));
        }
    }
    more
}

fn set_point(fault: &mut Fault, point: &str) {
    if let Some(when) = &mut fault.when
        && when.point.as_deref() == Some(ANY_POINT)
    {
        when.point = Some(point.into());
    }
}

fn set_message(fault: &mut Fault, nth: u32) {
    let in_trigger = fault.when.as_mut().and_then(|when| when.message.as_mut());
    let messages = [fault.lose.as_mut(), fault.delay.as_mut(), in_trigger];
    for message in messages.into_iter().flatten().filter(|message| message.nth == Message::ANY) {
        message.nth = nth;
    }
}
