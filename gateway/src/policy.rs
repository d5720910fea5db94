//! What an operator decides: one field for each decision, and the profiles that play the known systems.

mod check;

use std::{collections::BTreeMap, sync::OnceLock, time::Duration};

use serde::{Deserialize, Deserializer};

pub use check::{Finding, Severity, plain};

/// The profiles that are built in, by name.
const PROFILES: &[(&str, &str)] = &[
    ("strict", include_str!("../profiles/strict.toml")),
    ("zap", include_str!("../profiles/zap.toml")),
    ("ietf-gateway", include_str!("../profiles/ietf-gateway.toml")),
];

/// Where records are kept (S5, S10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answers {
    /// In a store that outlives the process.
    Durable,
    /// In the gateway's memory: a restart forgets them.
    Memory,
}

/// What becomes of an outcome that cannot be told (S6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ambiguous {
    /// The record is `unknown` until it is settled.
    Unknown,
    /// The error is stored as if it were a definite answer, and replayed.
    StoreAndReplay,
}

/// What happens to a send while the store cannot be reached (S7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreDown {
    /// 503, and nothing is sent.
    Refuse,
    /// The message goes out unprotected, and the response says so.
    SendUnprotected,
}

/// Every decision that an operator may take.
///
/// In TOML, periods are text with a unit, such as `"10s"`, `"24h"` or `"30d"`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The name of the profile.
    pub name: String,
    /// How long a repetition waits for the first to finish; then 409 (S4).
    #[serde(deserialize_with = "period")]
    pub in_flight_wait: Duration,
    /// How long an answer is replayed, counted from the durable definite answer (S5).
    #[serde(deserialize_with = "period")]
    pub ttl: Duration,
    /// The TTL of routes that keep their answers for another time, by canonical route (S5).
    #[serde(deserialize_with = "periods")]
    pub ttl_by_route: BTreeMap<String, Duration>,
    /// How long after the TTL a repetition is still refused; 0: then a repetition is a new send (S5).
    #[serde(deserialize_with = "period")]
    pub tombstone: Duration,
    /// How often expired answers and tombstones are swept. One that is not yet swept counts as expired (S5).
    #[serde(deserialize_with = "period")]
    pub sweep_every: Duration,
    /// For how long a producer may repeat a key: its retries, its queue's delay and its oldest redrive together. No
    /// send reads it; [`Policy::check`] compares the retention with it (M3).
    #[serde(deserialize_with = "period")]
    pub producer_window: Duration,
    /// How long a claim, or a settle lease, is its owner's alone (S10).
    #[serde(deserialize_with = "period")]
    pub lease: Duration,
    /// How far two hosts' clocks may differ; a lease is out only at its end plus this (S10).
    #[serde(deserialize_with = "period")]
    pub skew: Duration,
    /// How long the provider's answer is awaited (S6).
    #[serde(deserialize_with = "period")]
    pub provider_timeout: Duration,
    /// How long after its mark (or after its re-ask was begun) a request's first byte may leave (S10).
    #[serde(deserialize_with = "period")]
    pub send_deadline: Duration,
    /// How old a request can be when the provider acts on it, counted from the check of the send deadline; it
    /// includes a freeze between the check and the write (S10).
    #[serde(deserialize_with = "period")]
    pub longest_request_age: Duration,
    /// How long one command to the store may take (S7).
    #[serde(deserialize_with = "period")]
    pub store_timeout: Duration,
    /// How long a caller is kept waiting for a claim or an outcome to become durable; then 503 before the
    /// dispatch, 504 after it, and an outcome goes on being recorded (S10). One store timeout may come on top.
    #[serde(deserialize_with = "period")]
    pub caller_patience: Duration,
    /// The largest body of a request, in bytes; above it 413.
    pub body_limit: usize,
    /// Whether a key has to be a quoted string, as the IETF draft writes it (S3).
    pub quoted_keys_only: bool,
    /// The longest text, in characters; a longer one is invalid, which counts for a fresh claim only.
    pub text_limit: usize,
    /// Where records are kept (S5, S10).
    pub answers: Answers,
    /// What becomes of an ambiguous outcome (S6).
    pub ambiguous: Ambiguous,
    /// What happens to a send while the store cannot be reached (S7).
    pub store_down: StoreDown,
    /// How many events and sends of events one gateway works on at a time; 0 works on none (W7).
    pub workers: usize,
    /// How often a worker prolongs its lease (W7).
    #[serde(deserialize_with = "period")]
    pub heartbeat: Duration,
    /// How long requests and rows in hand may take to be finished once the gateway is told to stop; then rows are handed
    /// back (W7).
    #[serde(deserialize_with = "period")]
    pub drain: Duration,
    /// The most attempts of a job, or of the send of an effect; then it is a dead letter (W8).
    pub attempts: u32,
    /// Within what time a webhook is answered, counted from its last byte (W6).
    #[serde(deserialize_with = "period")]
    pub webhook_patience: Duration,
    /// The largest body of a webhook, in bytes: a batch of 1,000 updates has to fit (W4).
    pub webhook_limit: usize,
    /// How far the time of a signature may be from ours (W2).
    #[serde(deserialize_with = "period")]
    pub signature_tolerance: Duration,
    /// How long the id of an event is known (W1).
    #[serde(deserialize_with = "period")]
    pub inbox_kept: Duration,
    /// For how long a sender may deliver an event again (W1). No delivery reads it; [`Policy::check`] compares the inbox
    /// with it (M3).
    #[serde(deserialize_with = "period")]
    pub sender_window: Duration,
    /// How long after its receipt an event may still wait for its work, or its effect for its send, with all attempts (W7).
    /// No worker reads it; [`Policy::check`] compares what is remembered with it (M3).
    #[serde(deserialize_with = "period")]
    pub queue_delay: Duration,
    /// How old a dead letter may be that is redriven (W8).
    #[serde(deserialize_with = "period")]
    pub redrive_window: Duration,
    /// How long the hint of a delivery is kept, which is no longer than the ids of its events (W5).
    #[serde(deserialize_with = "period")]
    pub hint_ttl: Duration,
    /// How long a hint is waited for (W5).
    #[serde(deserialize_with = "period")]
    pub hint_timeout: Duration,
}

/// A field that a profile decides otherwise than `strict`.
#[derive(Debug, Clone, PartialEq)]
pub struct Departure {
    /// Its name.
    pub field: String,
    /// What the profile decides.
    pub decided: toml::Value,
    /// What `strict` decides.
    pub strict: toml::Value,
}

/// Why a policy cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// No built-in profile has this name.
    #[error("there is no profile `{name}`; known are {known}")]
    NoProfile {
        /// What was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The text is not a policy; the message names the field and the place.
    #[error("not a policy: {0}")]
    Malformed(#[from] toml::de::Error),
}

impl Policy {
    /// The names of the built-in profiles; `strict` is the default.
    pub fn profile_names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|(name, _)| *name)
    }

    /// The built-in profile of this name.
    ///
    /// # Errors
    /// [`PolicyError::NoProfile`], which lists the known ones.
    pub fn profile(name: &str) -> Result<Self, PolicyError> {
        Self::profile_with(name, &toml::Table::new())
    }

    /// The built-in profile of this name, but for the fields that `overrides` sets.
    ///
    /// # Errors
    /// [`PolicyError::NoProfile`], and [`PolicyError::Malformed`] for a field that is not one.
    pub fn profile_with(name: &str, overrides: &toml::Table) -> Result<Self, PolicyError> {
        match PROFILES.iter().position(|(known, _)| *known == name) {
            Some(place) if overrides.is_empty() => Ok(built_in()?[place].clone()),
            Some(place) => Self::over_strict([toml::from_str(PROFILES[place].1)?, overrides.clone()]),
            None => Err(PolicyError::NoProfile {
                name: name.to_owned(),
                known: Self::profile_names().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// In which fields the built-in profile of this name differs from `strict`, in the order of their names. A profile that
    /// is none of ours, or `strict` itself, has no such field.
    ///
    /// # Errors
    /// [`PolicyError::Malformed`], if a built-in profile is.
    pub fn departures(name: &str) -> Result<Vec<Departure>, PolicyError> {
        let Some((_, text)) = PROFILES.iter().find(|(known, _)| *known == name) else {
            return Ok(Vec::new());
        };
        let strict: toml::Table = toml::from_str(PROFILES[0].1)?;
        let decided: toml::Table = toml::from_str(text)?;
        let departure = |(field, decided): (String, toml::Value)| {
            let strict = strict.get(&field).filter(|strict| **strict != decided && field != "name")?.clone();
            Some(Departure { field, decided, strict })
        };
        Ok(decided.into_iter().filter_map(departure).collect())
    }

    /// A policy that is `strict` but for the fields that `text` (TOML) sets.
    ///
    /// # Errors
    /// [`PolicyError::Malformed`] for an unknown field, a wrong unit or a wrong type.
    pub fn from_toml(text: &str) -> Result<Self, PolicyError> {
        Self::over_strict([toml::from_str(text)?, toml::Table::new()])
    }

    fn over_strict(layers: [toml::Table; 2]) -> Result<Self, PolicyError> {
        let mut fields: toml::Table = toml::from_str(PROFILES[0].1)?;
        for layer in layers {
            fields.extend(layer);
        }
        Ok(fields.try_into()?)
    }

    /// The same policy with every period divided by `factor`, for a benchmark that compares long ones with short
    /// ones. A factor of 0 counts as 1.
    #[must_use]
    pub fn scaled_down_by(&self, factor: u32) -> Self {
        let factor = factor.max(1);
        let mut scaled = self.clone();
        for period in [
            &mut scaled.in_flight_wait,
            &mut scaled.ttl,
            &mut scaled.tombstone,
            &mut scaled.sweep_every,
            &mut scaled.producer_window,
            &mut scaled.lease,
            &mut scaled.skew,
            &mut scaled.provider_timeout,
            &mut scaled.send_deadline,
            &mut scaled.longest_request_age,
            &mut scaled.store_timeout,
            &mut scaled.caller_patience,
            &mut scaled.heartbeat,
            &mut scaled.drain,
            &mut scaled.webhook_patience,
            &mut scaled.signature_tolerance,
            &mut scaled.inbox_kept,
            &mut scaled.sender_window,
            &mut scaled.queue_delay,
            &mut scaled.redrive_window,
            &mut scaled.hint_ttl,
            &mut scaled.hint_timeout,
        ] {
            *period /= factor;
        }
        scaled.ttl_by_route.values_mut().for_each(|ttl| *ttl /= factor);
        scaled
    }

    /// How long the answers of a scope, `{instance}/{canonical route}`, are replayed (S5).
    #[must_use]
    pub fn ttl_of(&self, scope: &str) -> Duration {
        let route = scope.split_once('/').map_or(scope, |(_, route)| route);
        self.ttl_by_route.get(route).copied().unwrap_or(self.ttl)
    }

    /// How long after a request was begun no trace of it can still arrive: send deadline + longest request age +
    /// skew.
    #[must_use]
    pub fn dead_after(&self) -> Duration {
        self.send_deadline + self.longest_request_age + self.skew
    }
}

/// Every built-in profile, read once: a campaign asks for one in each of its many cases.
fn built_in() -> Result<&'static [Policy], PolicyError> {
    static READ: OnceLock<Vec<Policy>> = OnceLock::new();
    if let Some(read) = READ.get() {
        return Ok(read);
    }
    let read: Vec<Policy> =
        PROFILES.iter().map(|(_, text)| Policy::from_toml(text)).collect::<Result<_, _>>()?;
    Ok(READ.get_or_init(|| read))
}

/// A period as whole milliseconds, the unit of the store's clock.
#[must_use]
pub fn as_ms(period: Duration) -> i64 {
    i64::try_from(period.as_millis()).unwrap_or(i64::MAX / 4)
}

fn period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    read_period(&String::deserialize(deserializer)?)
}

fn periods<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Duration>, D::Error> {
    let texts = BTreeMap::<String, String>::deserialize(deserializer)?;
    texts.into_iter().map(|(name, text)| Ok((name, read_period(&text)?))).collect()
}

pub(crate) fn read_period<E: serde::de::Error>(text: &str) -> Result<Duration, E> {
    humantime::parse_duration(text).map_err(|error| E::custom(format!("not a period: `{text}` ({error})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_a_policy_of_its_own_name() {
        for name in Policy::profile_names() {
            assert_eq!(Policy::profile(name).unwrap().name, name);
        }
    }

    #[test]
    fn a_profile_sets_only_what_its_text_decides() {
        let strict = Policy::profile("strict").unwrap();
        let zap = Policy::profile("zap").unwrap();
        assert_eq!(strict.tombstone, Duration::from_secs(30 * 24 * 3600));
        assert_eq!(
            zap,
            Policy { name: "zap".into(), tombstone: Duration::ZERO, answers: Answers::Memory, ..strict }
        );
    }

    #[test]
    fn the_ietf_gateway_differs_in_five_fields() {
        let expected = Policy {
            name: "ietf-gateway".into(),
            in_flight_wait: Duration::ZERO,
            tombstone: Duration::ZERO,
            ambiguous: Ambiguous::StoreAndReplay,
            store_down: StoreDown::SendUnprotected,
            ..Policy::profile("strict").unwrap()
        };
        assert_eq!(Policy::profile("ietf-gateway").unwrap(), expected);
    }

    #[test]
    fn with_its_departures_taken_back_a_profile_is_strict() {
        for name in Policy::profile_names() {
            let departures = Policy::departures(name).unwrap();
            let back = departures.into_iter().map(|departure| (departure.field, departure.strict)).collect();
            let taken_back = Policy::profile_with(name, &back).unwrap();
            assert_eq!(Policy { name: "strict".into(), ..taken_back }, Policy::profile("strict").unwrap());
        }
        assert_eq!(Policy::departures("ietf-gateway").unwrap().len(), 5);
    }

    #[test]
    fn an_unknown_profile_lists_the_known_ones() {
        let error = Policy::profile("zip").unwrap_err().to_string();
        assert!(error.contains("strict, zap, ietf-gateway"), "{error}");
    }

    #[test]
    fn mistakes_are_named() {
        let error = Policy::from_toml("leese = \"3s\"").unwrap_err().to_string();
        assert!(error.contains("leese"), "{error}");
        let error = Policy::from_toml("lease = \"3 parsecs\"").unwrap_err().to_string();
        assert!(error.contains("3 parsecs"), "{error}");
        let error = Policy::from_toml("ttl_by_route = { messages = \"1 eon\" }").unwrap_err().to_string();
        assert!(error.contains("1 eon"), "{error}");
    }

    #[test]
    fn a_route_may_have_a_ttl_of_its_own() {
        let policy = Policy::from_toml("ttl_by_route = { \"messages/document\" = \"7d\" }").unwrap();
        assert_eq!(policy.ttl_of("loja-1/messages/document"), Duration::from_secs(7 * 24 * 3600));
        assert_eq!(policy.ttl_of("loja-1/messages"), policy.ttl);
        let scaled = policy.scaled_down_by(7);
        assert_eq!(scaled.ttl_of("loja-1/messages/document"), policy.ttl);
    }

    #[test]
    fn scaling_divides_every_period_and_nothing_else() {
        let strict = Policy::profile("strict").unwrap();
        let scaled = strict.scaled_down_by(3600);
        assert_eq!(scaled.ttl, Duration::from_secs(24));
        assert_eq!(scaled.body_limit, strict.body_limit);
        assert_eq!(strict.scaled_down_by(0), strict);
    }
}
