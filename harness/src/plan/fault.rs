//! Faults: what strikes, when, and for how long.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Link, Message, Offset, Span};

/// Something that strikes, when, and for how long.
///
/// Exactly one action: `cut`, `slow`, `lose`, `delay`, `crash`, `freeze`, `refuse`, `clock`, `lose_commits`, `empty`, `evict`,
/// `refuse_writes`, `lose_last` or `fail_over`. `lose` and `delay` name a message and need no trigger; every other action has
/// `at` or `when`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
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
    /// Makes every message on a link take longer, by `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<Link>,
    /// Loses exactly this message, such as `producer -> gateway-1 #1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lose: Option<Message>,
    /// Delays exactly this message, by `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Message>,
    /// How long a delayed message, or one on a slow link, takes on top of its way.
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
    /// Policy fields that the gateway starts with from this crash on: a release that decides otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub upgrade: Option<toml::Table>,
    /// Suspends a host: it runs nothing, and its connections stay open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<String>,
    /// When a frozen host goes on, counted from the freeze; without it, at the heal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thaw: Option<Span>,
    /// Refuses new connections to a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuse: Option<String>,
    /// Sets a gateway's wall clock wrong, by `offset`; a second one steps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// How far a clock is off, such as `+5m` or `-90s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Offset>,
    /// Makes `redis` lose its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<String>,
    /// Makes `redis` give up every key that fits this pattern, as one does that is short of memory: `*` for all, `?`, `[a-c]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evict: Option<String>,
    /// Makes `redis` refuse every command that needs memory, as one does that is full and may evict nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuse_writes: Option<String>,
    /// Redis loses the writes of so long before, up to a minute, as one does that writes its log every second and dies. It
    /// is back at once; its connections are reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lose_last: Option<Span>,
    /// A replica of Redis that is so far behind, up to a minute, takes over: what it never heard of is lost, and connections
    /// end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_over: Option<Span>,
    /// The database forgets so many of its last commits, as one does that was not durable, or that fails over to a
    /// replica which lags. Its connections are reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lose_commits: Option<u32>,
    /// When a cut, a slow link, a refusal (of connections or of writes) or a wrong clock ends, counted from its begin; without it, at the heal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heal: Option<Span>,
}

/// What a fault waits for. Exactly one of `effect`, `point`, `message`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
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

/// What a cut does with packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutMode {
    /// They arrive when the cut heals.
    Held,
    /// They never arrive; at the heal, connections that lost one are reset.
    Lost,
}
