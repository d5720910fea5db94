//! The words that a scenario may use for things outside of it.

use onceproof_gateway::policy::Policy;

use super::ANY_POINT;
use onceproof_gateway::producer;

use crate::{
    sim::actors::database,
    subject::{self, express_pg},
};

/// The profiles that can play the gateway.
pub const PROFILES: [&str; 6] = [STRICT, ZAP, "ietf-gateway", META_REDIS, EXPRESS_PG, EXPRESS_PG_PROSE];

/// What is right when all texts are taken together.
pub const STRICT: &str = "strict";

/// The profile of text A, which is a system of its own.
pub const META_REDIS: &str = "meta-redis";

/// The subscriber that answers whoever wrote, and is there where nothing is said of subscribers.
pub const REPLY: &str = "reply";

/// The profile of text B, whose receiver is a system of its own beside the reference gateway.
pub const ZAP: &str = "zap";

/// The profile of text C's code, which is a system of its own.
pub const EXPRESS_PG: &str = "express-pg";

/// The profile of text C's prose, where that differs from its code.
pub const EXPRESS_PG_PROSE: &str = "express-pg-prose";

/// Whether every one of these profiles keeps something in a Redis, so that the host of it is in their world. Text B does so
/// where events are delivered to it.
#[must_use]
pub fn needs_redis(profiles: &[String], delivers: bool) -> bool {
    let keeps = [META_REDIS, EXPRESS_PG, EXPRESS_PG_PROSE];
    profiles.iter().all(|profile| keeps.contains(&profile.as_str()) || (profile == ZAP && delivers))
}

/// Whether this profile counts what it does (M1): the reference gateway does, whatever its policy.
pub(super) fn counts(profile: &str) -> bool {
    Policy::profile_names().any(|name| name == profile)
}

/// The verdicts.
pub const VERDICTS: [&str; 4] = ["kept", "violated", "waived", "inconclusive"];

/// The routes that take a key, whatever the prefix (S1).
pub(super) const ROUTES: [&str; 8] = [
    "messages",
    "messages/text",
    "messages/media",
    "messages/audio",
    "messages/document",
    "messages/contact",
    "messages/location",
    "instances",
];

/// The routes that take an upload (S8).
pub(super) const FILE_ROUTES: [&str; 3] = ["messages/media", "messages/audio", "messages/document"];

/// The prefixes of a path (S1).
pub(super) const PREFIXES: [&str; 2] = ["v1", "api"];

/// The tenants.
pub(super) const INSTANCES: [&str; 2] = ["loja-1", "loja-2"];

/// What a provider may be able to do, as it is written in a file.
pub(super) const ABILITIES: [&str; 4] = ["keyed", "queryable", "echoing", "opaque"];

/// The rules, by letter, and how many there are of each.
const RULES: [(char, u32); 4] = [('S', 13), ('W', 11), ('M', 3), ('H', 5)];

/// What a mistaken rule ID is answered with.
pub(super) const RULES_HELP: &str = "the rules are S1 to S13, W1 to W11, M1 to M3 and H1 to H5";

/// Whether there is a rule of this ID, such as `S10`.
pub(super) fn is_rule(id: &str) -> bool {
    RULES.iter().any(|&(letter, count)| {
        id.strip_prefix(letter).is_some_and(|number| {
            !number.starts_with(['0', '+']) && number.parse().is_ok_and(|n: u32| (1..=count).contains(&n))
        })
    })
}

/// Every host of a world with these producers and so many gateways.
pub(super) fn hosts(producers: &[&str], gateways: u32, redis: bool) -> Vec<String> {
    let outside = producers.iter().copied().chain(["whatsapp", "database"]).map(String::from);
    outside.chain(redis.then(|| "redis".into())).chain(self::gateways(gateways)).collect()
}

/// Every named point, and the placeholder where a scenario varies it.
pub(super) fn points(placeholder: bool) -> Vec<&'static str> {
    let placeholder = placeholder.then_some(ANY_POINT);
    let all = [
        onceproof_gateway::points::ALL,
        producer::points::ALL,
        database::POINTS,
        subject::points::POINTS,
        express_pg::POINTS,
    ];
    all.into_iter().flatten().copied().chain(placeholder).collect()
}

/// The gateways of a world.
pub(super) fn gateways(count: u32) -> Vec<String> {
    (1..=count).map(|n| format!("gateway-{n}")).collect()
}
