//! What is expected of a run: a default, overridden by profile, and that by ability.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::{self, DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::names;
use crate::history::Ability;

/// `[expect]`, overridden by `[expect.PROFILE]`, and that by `[expect.PROFILE.ABILITY]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Expectations {
    /// The default.
    #[serde(flatten)]
    pub default: Expectation,
    /// By profile.
    #[serde(flatten)]
    pub by_profile: BTreeMap<String, ProfileExpectation>,
}

/// What is expected of one profile.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ProfileExpectation {
    /// For every ability.
    #[serde(flatten)]
    pub default: Expectation,
    /// By ability.
    #[serde(flatten)]
    pub by_ability: BTreeMap<Ability, Expectation>,
}

/// What is expected of one cell; what is left out is inherited.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// How often each operation acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<BTreeMap<String, u32>>,
    /// What each call of an operation came to, in order; operations that are left out are not compared. As
    /// [`Verdict::answers`](crate::verdict::Verdict::answers) spells it, such as `200 replay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<BTreeMap<String, Vec<String>>>,
    /// Why each event is a dead letter at the end, as the operator sees it, such as `404 message-refused`. Where this is said,
    /// no other is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead: Option<BTreeMap<String, String>>,
    /// `kept`, `violated`, `waived` or `inconclusive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Exactly the invariants that are violated or waived, where the verdict says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariants: Option<Vec<String>>,
    /// How many messages are visibly `unknown` at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<u32>,
    /// What the gateways and their stores have counted at the end, each metric summed over gateways and labels (M1); metrics
    /// that are left out are not compared. A gateway's counts are those of the process that runs last: a crash forgets
    /// them. A profile that counts nothing is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<BTreeMap<String, u64>>,
    /// Exactly the signals that are raised at the end of the run (M2); not compared where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Vec<String>>,
    /// Why a verdict other than `kept` is right: a rule ID and what it does, such as `S10: a crash means "not executed"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Expectations {
    /// What is expected of one cell, with all that it inherits. Whatever no layer says is as in a good run:
    /// `kept`, nothing unknown.
    #[must_use]
    pub fn of(&self, profile: &str, ability: Ability) -> Expectation {
        let mut cell = self.default.clone();
        if let Some(by_profile) = self.by_profile.get(profile) {
            cell.overlay(&by_profile.default);
            if let Some(by_ability) = by_profile.by_ability.get(&ability) {
                cell.overlay(by_ability);
            }
        }
        if !names::counts(profile) {
            cell.metrics = None;
        }
        cell.settle();
        cell
    }
}

impl Expectation {
    /// The names of its fields.
    pub(super) const FIELDS: [&'static str; 9] =
        ["effects", "answers", "dead", "verdict", "invariants", "unknown", "metrics", "signals", "because"];

    /// Overrides what the nearer layer says. Effects, answers and dead letters are overridden one operation at a
    /// time, metrics by name.
    fn overlay(&mut self, nearer: &Self) {
        if let Some(effects) = &nearer.effects {
            self.effects.get_or_insert_default().extend(effects.iter().map(|(op, n)| (op.clone(), *n)));
        }
        if let Some(answers) = &nearer.answers {
            let answers = answers.iter().map(|(op, answers)| (op.clone(), answers.clone()));
            self.answers.get_or_insert_default().extend(answers);
        }
        if let Some(dead) = &nearer.dead {
            self.dead.get_or_insert_default().extend(dead.iter().map(|(op, why)| (op.clone(), why.clone())));
        }
        for (mine, theirs) in [(&mut self.verdict, &nearer.verdict), (&mut self.because, &nearer.because)] {
            if theirs.is_some() {
                mine.clone_from(theirs);
            }
        }
        if nearer.invariants.is_some() {
            self.invariants.clone_from(&nearer.invariants);
        }
        self.unknown = nearer.unknown.or(self.unknown);
        if let Some(metrics) = &nearer.metrics {
            let metrics = metrics.iter().map(|(name, value)| (name.clone(), *value));
            self.metrics.get_or_insert_default().extend(metrics);
        }
        if nearer.signals.is_some() {
            self.signals.clone_from(&nearer.signals);
        }
    }

    /// Fills in what nobody said. A cell that is kept needs no reason, so it does not inherit one.
    fn settle(&mut self) {
        let verdict = self.verdict.get_or_insert_with(|| "kept".into());
        if verdict == "kept" {
            self.because = None;
            self.invariants = None;
        }
        self.invariants.get_or_insert_default();
        self.unknown.get_or_insert(0);
    }

    /// Takes one field from a table; `false` if the key is none of ours.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, table: &mut A) -> Result<bool, A::Error> {
        match key {
            "effects" => self.effects = Some(table.next_value()?),
            "answers" => self.answers = Some(table.next_value()?),
            "dead" => self.dead = Some(table.next_value()?),
            "verdict" => self.verdict = Some(table.next_value()?),
            "invariants" => self.invariants = Some(table.next_value()?),
            "unknown" => self.unknown = Some(table.next_value()?),
            "metrics" => self.metrics = Some(table.next_value()?),
            "signals" => self.signals = Some(table.next_value()?),
            "because" => self.because = Some(table.next_value()?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'de> Deserialize<'de> for Expectations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (default, by_profile) = deserializer.deserialize_map(Layer(PhantomData))?;
        Ok(Self { default, by_profile })
    }
}

impl<'de> Deserialize<'de> for ProfileExpectation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (default, by_ability) = deserializer.deserialize_map(Layer(PhantomData))?;
        Ok(Self { default, by_ability })
    }
}

/// Reads a table of our own fields among tables of the next layer: serde's `flatten` cannot refuse what
/// is neither.
struct Layer<K, V>(PhantomData<(K, V)>);

impl<'de, K: Ord + DeserializeOwned, V: DeserializeOwned> Visitor<'de> for Layer<K, V> {
    type Value = (Expectation, BTreeMap<K, V>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of expectations")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Self::Value, A::Error> {
        let (mut own, mut nested) = (Expectation::default(), BTreeMap::new());
        while let Some(key) = table.next_key::<String>()? {
            if own.take(&key, &mut table)? {
                continue;
            }
            let key = K::deserialize(de::value::StringDeserializer::<A::Error>::new(key))?;
            nested.insert(key, table.next_value()?);
        }
        Ok((own, nested))
    }
}
