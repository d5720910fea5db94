//! From a scenario to its plans: one per profile and ability.

use super::{Expectation, Expectations, PlanError, Scenario, places::Place, places::Places};
use crate::history::Ability;

/// One run: a scenario with one profile, one ability and a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// A short name, such as `lost-200`.
    pub name: String,
    /// Which telling of the story this is, such as `after-mark, loud`; empty where there is but one.
    pub variant: String,
    /// The story, with exactly one profile, one ability and a seed in its world.
    pub scenario: Scenario,
}

impl Scenario {
    /// The plans of this scenario: for each profile (or the one asked for), for each ability, in the
    /// file's order. Each plan expects what this scenario expects of its cell.
    #[must_use]
    pub fn expand(&self, name: &str, seed: u64, profile: Option<&str>) -> Vec<Plan> {
        let profiles = self.world.profiles.iter().filter(|p| profile.is_none_or(|only| only == p.as_str()));
        let cells =
            profiles.flat_map(|profile| self.world.abilities.iter().map(move |ability| (profile, *ability)));
        let variants = self.variants();
        let plans = cells.flat_map(|(profile, ability)| {
            variants.iter().map(move |(variant, scenario)| Plan {
                name: name.into(),
                variant: variant.clone(),
                scenario: scenario.cell(profile, ability, seed),
            })
        });
        plans.collect()
    }

    /// This scenario with one profile, one ability, a seed, and only their expectation.
    fn cell(&self, profile: &str, ability: Ability, seed: u64) -> Self {
        let mut cell = self.clone();
        cell.expect = Expectations { default: self.expect.of(profile, ability), ..Expectations::default() };
        cell.world.profiles = vec![profile.into()];
        cell.world.abilities = vec![ability];
        cell.world.seed = Some(seed);
        cell
    }
}

impl Plan {
    /// Reads a plan file: a scenario with exactly one profile, one ability and a seed.
    ///
    /// # Errors
    /// As [`Scenario::parse`], and for a file that describes more or less than one run.
    pub fn parse(name: &str, source: &str) -> Result<Self, PlanError> {
        let scenario = Scenario::parse(name, source)?;
        let world = &scenario.world;
        let world_place = Place::root().key("world");
        let (place, message) = if world.profiles.len() != 1 {
            (world_place.key("profiles"), "a plan has exactly one profile")
        } else if world.abilities.len() != 1 {
            (world_place.key("abilities"), "a plan has exactly one ability")
        } else if world.seed.is_none() {
            (world_place, "a plan has a seed")
        } else {
            return Ok(Self { name: name.into(), variant: String::new(), scenario });
        };
        Err(PlanError::new(name, source, message)
            .at(Places::of(source).value(&place), "here")
            .help("this is a scenario: `run` it, or take the plan that `run` wrote for a failure"))
    }

    /// The one profile.
    #[must_use]
    pub fn profile(&self) -> &str {
        self.scenario.world.profiles.first().map_or("", String::as_str)
    }

    /// The one ability of the provider; one that was never named is the weakest.
    #[must_use]
    pub fn ability(&self) -> Ability {
        self.scenario.world.abilities.first().copied().unwrap_or(Ability::Opaque)
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.scenario.world.seed.unwrap_or_default()
    }

    /// What is expected of this run, with nothing left to inherit.
    #[must_use]
    pub fn expectation(&self) -> Expectation {
        self.scenario.expect.of(self.profile(), self.ability())
    }

    /// As a plan file; parsing it gives the same plan.
    ///
    /// # Errors
    /// As [`Scenario::to_toml`].
    pub fn to_toml(&self) -> Result<String, toml_edit::ser::Error> {
        self.scenario.to_toml()
    }
}
