//! Checks of the title, the rules and the world.

use onceproof_gateway::inbound::Subscriber;

use super::{File, policy};
use crate::plan::places::Place;
use crate::plan::{PlanError, Scenario, WorldSpec, names};

const GATEWAYS_MAX: usize = 8;
/// The profiles whose receivers know one subscriber.
const ALONE: [&str; 4] = [names::META_REDIS, names::ZAP, names::EXPRESS_PG, names::EXPRESS_PG_PROSE];
const RETRIES_MAX: usize = 100;

pub(super) fn check(file: &File<'_>, scenario: &Scenario) -> Result<(), PlanError> {
    let root = Place::root();
    for (field, text) in [("title", &scenario.title), ("story", &scenario.story)] {
        if text.trim().is_empty() {
            let mistake = file.mistake(&root.key(field), format!("the {field} is empty"));
            return Err(
                mistake.help("a scenario tells someone who never saw it what happens and why it matters")
            );
        }
    }
    rules(file, &scenario.rules)?;
    world(file, &scenario.world, &root.key("world"))
}

fn rules(file: &File<'_>, rules: &[String]) -> Result<(), PlanError> {
    let place = Place::root().key("rules");
    if rules.is_empty() {
        return Err(file.mistake(&place, "the scenario shows no rule").help(names::RULES_HELP));
    }
    for (i, rule) in rules.iter().enumerate() {
        if !names::is_rule(rule) {
            return Err(file
                .mistake(&place.item(i), format!("unknown rule `{rule}`"))
                .help(names::RULES_HELP));
        }
    }
    Ok(())
}

fn world(file: &File<'_>, world: &WorldSpec, place: &Place) -> Result<(), PlanError> {
    let profiles = place.key("profiles");
    not_empty(file, &profiles, world.profiles.len(), &names::PROFILES)?;
    for (i, profile) in world.profiles.iter().enumerate() {
        let here = profiles.item(i);
        file.known(&here, "profile", profile, &names::PROFILES)?;
        once(file, &here, profile, world.profiles[..i].contains(profile))?;
    }
    let abilities = place.key("abilities");
    not_empty(file, &abilities, world.abilities.len(), &names::ABILITIES)?;
    for (i, ability) in world.abilities.iter().enumerate() {
        once(file, &abilities.item(i), "this ability", world.abilities[..i].contains(ability))?;
    }
    subscribers(file, &place.key("subscribers"), world)?;
    let gateways = usize::try_from(world.gateways).unwrap_or(usize::MAX);
    file.within(&place.key("gateways"), "the number of gateways", gateways, 1, GATEWAYS_MAX)?;
    let divisor = usize::try_from(world.shrink_time_by).unwrap_or(usize::MAX);
    file.within(&place.key("shrink_time_by"), "`shrink_time_by`", divisor, 1, 1_000_000)?;
    file.lasts(&place.key("key_retention"), "the memory of the provider", world.key_retention)?;
    policy::check(file, &place.key("policy"), &world.policy)?;
    let producer = place.key("producer");
    file.lasts(&producer.key("timeout"), "an attempt of a producer", world.producer.timeout)?;
    policy::check_producer(file, &producer.key("policy"), &world.producer.policy)?;
    file.at_most(&producer.key("retry"), "retries", world.producer.retry.len(), RETRIES_MAX)
}

/// Names that an operation can bear, and that a gateway takes.
fn subscribers(file: &File<'_>, place: &Place, world: &WorldSpec) -> Result<(), PlanError> {
    let subscribers = &world.subscribers;
    let one_alone = world.profiles.iter().find(|name| ALONE.contains(&name.as_str()));
    if let (Some(profile), true) = (one_alone, subscribers != &[names::REPLY]) {
        let mistake =
            file.mistaken_key(place, format!("`{profile}` has no subscriber but `{}`", names::REPLY));
        return Err(mistake.help("leave `subscribers` out, or the profile"));
    }
    file.within(place, "the number of subscribers", subscribers.len(), 1, Subscriber::MOST)?;
    for (i, name) in subscribers.iter().enumerate() {
        let here = place.item(i);
        if name == Subscriber::GATEWAY {
            let mistake = file.mistake(&here, format!("`{name}` is the gateway itself"));
            return Err(mistake.help("what is no message is its own anyway: name who acts on messages"));
        }
        super::steps::op(file, &here, name)?;
        once(file, &here, name, subscribers[..i].contains(name))?;
    }
    Ok(())
}

fn not_empty(file: &File<'_>, place: &Place, len: usize, known: &[&str]) -> Result<(), PlanError> {
    if len > 0 {
        return Ok(());
    }
    let known = crate::plan::meant::list(known);
    Err(file
        .mistake(place, "nothing is named, so nothing would run")
        .help(format!("name at least one of {known}")))
}

fn once(file: &File<'_>, place: &Place, name: &str, named_before: bool) -> Result<(), PlanError> {
    if named_before {
        return Err(file.mistake(place, format!("`{name}` is named twice")).help("leave the second one out"));
    }
    Ok(())
}
