//! What a producer decides: one field for each decision, and the profiles that play the known texts.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::Zone;
use crate::policy::{PolicyError, read_period};

/// `strict`, over which every other profile lies.
const STRICT: &str = include_str!("../../profiles/producer/strict.toml");

/// The texts that say something about producers, by the name of their profile.
const PROFILES: &[(&str, &str)] = &[("zap", include_str!("../../profiles/producer/zap.toml"))];

/// How the parts of a deterministic key become one (S12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Each with its length before it, under a version: [`Place`](super::Place) does not matter.
    Canonical,
    /// Joined with `:` by whoever sends at once, with `|` by the worker.
    Joined,
}

/// What a deterministic key is about (S12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The event where there is one, else the template.
    EventOrTemplate,
    /// The template where there is one, even of a message about an event: at most one such message in a bucket, which is
    /// a rule of business and no idempotency key.
    Template,
}

/// How long a template's deterministic key means the same message (S12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bucket {
    /// A day of the zone.
    Day,
    /// An hour of it.
    Hour,
    /// A millisecond: a timestamp in the key.
    Millisecond,
}

/// Where the bucket's time comes from (S12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BucketTime {
    /// The event's own time.
    Event,
    /// The clock of whoever makes the key, when it does.
    Now,
}

/// Whether the keys are durable before their job is queued (S12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Persisted {
    /// In the row of the order.
    BeforeQueueing,
    /// Only the job in memory has them.
    Never,
}

/// Where the worker has a deterministic key from (S12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerKey {
    /// From the row or the job.
    Read,
    /// It makes the key itself, each time that it is at the order.
    Made,
}

/// What key a retry bears (S12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryKey {
    /// That of the first attempt.
    Same,
    /// A new one.
    New,
}

/// What key a step of a composite operation bears after it failed (S13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailedStep {
    /// Its own: a failure may be an answer that was lost.
    KeepsKey,
    /// A new one.
    NewKey,
}

/// Every decision of a producer.
///
/// In TOML, periods are text with a unit, such as `"10s"`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProducerPolicy {
    /// How the parts of a deterministic key become one (S12).
    pub encoding: Encoding,
    /// What a deterministic key is about (S12).
    pub subject: Subject,
    /// How long a template's deterministic key means the same message (S12).
    pub bucket: Bucket,
    /// Where the bucket's time comes from (S12).
    pub bucket_time: BucketTime,
    /// The zone in which a day begins, by its IANA name, such as `America/Sao_Paulo` (S12).
    pub zone: Zone,
    /// Whether the keys are durable before their job is queued (S12).
    pub persisted: Persisted,
    /// Where the worker has a deterministic key from (S12).
    pub worker_key: WorkerKey,
    /// What key a retry bears (S12).
    pub retry_key: RetryKey,
    /// What key a step of a composite operation bears after it failed (S13).
    pub failed_step: FailedStep,
    /// How long one attempt may take.
    #[serde(deserialize_with = "period")]
    pub timeout: Duration,
    /// The pauses between the attempts of a step; it has failed when they are used up and its key's status does not
    /// say that the message was sent.
    #[serde(deserialize_with = "periods")]
    pub retry: Vec<Duration>,
    /// The pauses before a failed step is tried once more; when they are used up, the order is given up, visibly.
    #[serde(deserialize_with = "periods")]
    pub again_after: Vec<Duration>,
}

impl ProducerPolicy {
    /// The producer of this profile; of a profile whose text says nothing of producers, that of `strict`.
    ///
    /// # Errors
    /// [`PolicyError::Malformed`] for a field of `overrides` that is none.
    pub fn profile_with(name: &str, overrides: &toml::Table) -> Result<Self, PolicyError> {
        let mut fields: toml::Table = toml::from_str(STRICT)?;
        if let Some((_, text)) = PROFILES.iter().find(|(known, _)| *known == name) {
            fields.extend(toml::from_str::<toml::Table>(text)?);
        }
        fields.extend(overrides.clone());
        Ok(fields.try_into()?)
    }

    /// The same with every period divided by `factor`, as [`crate::policy::Policy::scaled_down_by`].
    #[must_use]
    pub fn scaled_down_by(&self, factor: u32) -> Self {
        let factor = factor.max(1);
        let mut scaled = self.clone();
        let periods =
            [&mut scaled.timeout].into_iter().chain(&mut scaled.retry).chain(&mut scaled.again_after);
        periods.for_each(|period| *period /= factor);
        scaled
    }
}

fn period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    read_period(&String::deserialize(deserializer)?)
}

fn periods<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Duration>, D::Error> {
    Vec::<String>::deserialize(deserializer)?.iter().map(|text| read_period(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str) -> ProducerPolicy {
        ProducerPolicy::profile_with(name, &toml::Table::new()).unwrap()
    }

    #[test]
    fn text_b_decides_four_things_otherwise() {
        let expected = ProducerPolicy {
            encoding: Encoding::Joined,
            bucket_time: BucketTime::Now,
            worker_key: WorkerKey::Made,
            failed_step: FailedStep::NewKey,
            ..profile("strict")
        };
        assert_eq!(profile("zap"), expected);
    }

    #[test]
    fn a_text_that_says_nothing_of_producers_has_a_strict_one() {
        assert_eq!(profile("ietf-gateway"), profile("strict"));
    }

    #[test]
    fn mistakes_are_named() {
        for (fields, named) in [
            ("encodign = \"joined\"", "encodign"),
            ("zone = \"America/Atlantis\"", "America/Atlantis"),
            ("retry = [\"1 eon\"]", "1 eon"),
            ("bucket = \"week\"", "week"),
        ] {
            let fields: toml::Table = toml::from_str(fields).unwrap();
            let error = ProducerPolicy::profile_with("strict", &fields).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    #[test]
    fn scaling_divides_every_period() {
        let scaled = profile("strict").scaled_down_by(1000);
        assert_eq!(scaled.timeout, Duration::from_millis(10));
        assert_eq!(scaled.retry[2], Duration::from_millis(4));
        assert_eq!(scaled.again_after[0], Duration::from_millis(60));
    }
}
