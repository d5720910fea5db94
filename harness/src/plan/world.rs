//! The world of a scenario: the hosts, who plays them, and their settings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;
use super::defaults::{a_day, is_a_day, is_false, is_one, is_reply, one, reply};
use super::seed;
use crate::history::Ability;

/// The hosts, who plays them, and their settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldSpec {
    /// Profiles that play the gateway.
    pub profiles: Vec<String>,
    /// What the provider can do for whoever lost its answer.
    pub abilities: Vec<Ability>,
    /// How many gateways share the store; hosts `gateway-1` and on.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub gateways: u32,
    /// Policy fields that every profile of this scenario is started with, over its own.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub policy: toml::Table,
    /// Whether there is a Redis, on the host `redis`, that the gateways use as a fast hint.
    #[serde(default, skip_serializing_if = "is_false")]
    pub redis: bool,
    /// Who acts on each message that is delivered, each on its own; `reply` answers it. The operation of `reply` is named as the
    /// event is, such as `oi-1`, that of another with its subscriber, such as `oi-1@team`.
    #[serde(default = "reply", skip_serializing_if = "is_reply")]
    pub subscribers: Vec<String>,
    /// How long a provider that takes keys remembers one.
    #[serde(default = "a_day", skip_serializing_if = "is_a_day")]
    pub key_retention: Span,
    /// How a producer waits and retries.
    #[serde(default)]
    pub producer: ProducerSpec,
    /// Seed of the run. A scenario file leaves it out; a plan has it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "seed")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub seed: Option<u64>,
    /// Divides every period of the policy and of the plan by this. Only benchmarks use it.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub shrink_time_by: u32,
}

/// How a producer waits and retries. Its defaults are the protocol's: 10 s, then 1, 2 and 4 s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProducerSpec {
    /// How long one attempt may take.
    #[serde(default = "ProducerSpec::default_timeout")]
    pub timeout: Span,
    /// Pauses before the second, third, … attempt; empty for no retry.
    #[serde(default = "ProducerSpec::default_retry")]
    pub retry: Vec<Span>,
    /// What it decides about its orders and their keys, over what the profile's text decides.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub policy: toml::Table,
}

impl ProducerSpec {
    fn default_timeout() -> Span {
        Span::from_ms(10_000)
    }
    fn default_retry() -> Vec<Span> {
        [1_000, 2_000, 4_000].map(Span::from_ms).to_vec()
    }
}

impl Default for ProducerSpec {
    fn default() -> Self {
        Self { timeout: Self::default_timeout(), retry: Self::default_retry(), policy: toml::Table::new() }
    }
}
