//! The scenario file: a story that a gateway must survive.
//!
//! A [`Scenario`] names lists of profiles and abilities; [`Plan`] is the same with one of each and a seed.
//! Both are the same TOML.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::history::Ability;

/// A story, its world, and what is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// One line that says what happens.
    pub title: String,
    /// Two or three sentences that say why it matters.
    pub story: String,
    /// The rules that it shows, such as `S10`.
    pub rules: Vec<String>,
    /// The hosts, who plays them, and their settings.
    pub world: WorldSpec,
    /// What the producers do.
    #[serde(default, rename = "step")]
    pub steps: Vec<Step>,
    /// What the provider says against the truth.
    #[serde(default, rename = "answer")]
    pub answers: Vec<ScriptedAnswer>,
    /// What strikes.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
    /// What is expected.
    pub expect: Expectations,
}

/// The hosts, who plays them, and their settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldSpec {
    /// Profiles that play the gateway.
    pub profiles: Vec<String>,
    /// What the provider can do for whoever lost its answer.
    pub abilities: Vec<Ability>,
    /// How many gateways share the store; hosts `gateway-1` and on.
    #[serde(default = "one")]
    pub gateways: u32,
    /// How a producer waits and retries.
    #[serde(default)]
    pub producer: ProducerSpec,
    /// Seed of the run. A scenario file leaves it out; a plan has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Divides every period of the policy and of the plan by this. Only benchmarks use it.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub shrink_time_by: u32,
}

/// How a producer waits and retries. Its defaults are the protocol's: 10 s, then 1, 2 and 4 s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProducerSpec {
    /// How long one attempt may take.
    #[serde(default = "ProducerSpec::default_timeout")]
    pub timeout: Span,
    /// Pauses before the second, third, … attempt; empty for no retry.
    #[serde(default = "ProducerSpec::default_retry")]
    pub retry: Vec<Span>,
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
        Self { timeout: Self::default_timeout(), retry: Self::default_retry() }
    }
}

/// One thing that a producer does, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When, since the run began.
    pub at: Span,
    /// Sends a message.
    pub send: Send,
}

/// A send of one logical operation, retried until its answer is definite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// Name of the logical operation. A second step with the same `op` repeats it: same key, same content.
    pub op: String,
    /// The recipient; a repetition leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The text; a repetition leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Uses the key of another operation, as a producer in error would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_of: Option<String>,
    /// How many producers send it at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: u32,
    /// The gateways to send to, in turn over producers and attempts.
    #[serde(default = "first_gateway", skip_serializing_if = "is_first_gateway")]
    pub via: Vec<String>,
    /// Overrides the pauses between attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Vec<Span>>,
}

/// What the provider says to one of its requests, instead of the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedAnswer {
    /// Which request at the provider, from 1.
    pub request: u32,
    /// Whether the provider acts on it.
    pub acts: bool,
    /// The status it answers with.
    pub status: u16,
}

/// Something that strikes, when, and for how long.
///
/// Exactly one action: `cut`, `lose`, `delay`, `crash`, `freeze` or `refuse`. `lose` and `delay` name a
/// message and need no trigger; every other action has `at` or `when`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Strikes at this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// Strikes when this happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Trigger>,
    /// Cuts a link: `a -> b` in one direction, `a <-> b` in both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Link>,
    /// Whether a cut holds packets until it heals (a cut shorter than TCP's patience) or loses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<CutMode>,
    /// Loses exactly this message, such as `producer -> gateway-1 #1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lose: Option<Message>,
    /// Delays exactly this message, by `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Message>,
    /// How long a delayed message takes on top of its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// Kills a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<String>,
    /// Whether nobody is told (power loss); otherwise its kernel says FIN or RST (`kill -9`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent: Option<bool>,
    /// When a crashed process starts again, counted from the crash; without it, at the heal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<Span>,
    /// Suspends a host: it runs nothing, and its connections stay open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<String>,
    /// When a frozen host goes on, counted from the freeze; without it, at the heal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thaw: Option<Span>,
    /// Refuses new connections to a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuse: Option<String>,
    /// When a cut or a refusal ends, counted from its begin; without it, at the heal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heal: Option<Span>,
}

/// What a fault waits for. Exactly one of `effect`, `point`, `message`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// The provider acts on this operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// A host reaches this named point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<String>,
    /// The host that reaches the point; without it, any host, counted together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Which occurrence of the effect or point, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// This message is about to leave, such as `gateway-1 -> database #3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
}

/// Two hosts and a direction: `a -> b`, or `a <-> b` for both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// Whether the other direction is meant too.
    pub both: bool,
}

/// One message on a link: an HTTP head with its body, or one store frame. `a -> b #n`, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// Which message on that link and direction, over all connections, from 1.
    pub nth: u32,
}

/// What a cut does with packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutMode {
    /// They arrive when the cut heals.
    Held,
    /// They never arrive; at the heal, connections that lost one are reset.
    Lost,
}

/// A length of time with its unit, such as `10s`, `24h - 1s`, `30d`; stored in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    ms: u64,
}

impl Span {
    /// A span of so many milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self { ms }
    }
    /// In milliseconds.
    #[must_use]
    pub const fn ms(self) -> u64 {
        self.ms
    }
}

/// `[expect]`, overridden by `[expect.PROFILE]`, and that by `[expect.PROFILE.ABILITY]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectations {
    /// The default.
    #[serde(flatten)]
    pub default: Expectation,
    /// By profile.
    #[serde(flatten)]
    pub by_profile: BTreeMap<String, ProfileExpectation>,
}

/// What is expected of one profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileExpectation {
    /// For every ability.
    #[serde(flatten)]
    pub default: Expectation,
    /// By ability.
    #[serde(flatten)]
    pub by_ability: BTreeMap<Ability, Expectation>,
}

/// What is expected of one cell; what is left out is inherited.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// How often each operation acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<BTreeMap<String, u32>>,
    /// `kept`, `violated`, `waived` or `inconclusive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Exactly the invariants that are violated or waived, where the verdict says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariants: Option<Vec<String>>,
    /// How many messages are visibly `unknown` at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<u32>,
    /// Why a verdict other than `kept` is right: a rule ID and what it does, such as `S10: a crash means "not executed"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// One run: a scenario with one profile, one ability and a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// A short name, such as `lost-200`.
    pub name: String,
    /// The story, with exactly one profile, one ability and a seed in its world.
    pub scenario: Scenario,
}

fn one() -> u32 {
    1
}
fn is_one(n: &u32) -> bool {
    *n == 1
}
fn first_gateway() -> Vec<String> {
    vec!["gateway-1".into()]
}
fn is_first_gateway(via: &Vec<String>) -> bool {
    *via == first_gateway()
}
