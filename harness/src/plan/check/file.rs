//! The file that is being checked.

use crate::plan::places::{Place, Places};
use crate::plan::{PlanError, Span, meant};

/// A file, its name and its places.
pub(in crate::plan) struct File<'s> {
    /// What its mistakes are shown under.
    pub name: &'s str,
    /// Its text.
    pub source: &'s str,
    /// Where everything stands.
    pub places: Places<'s>,
}

impl File<'_> {
    /// A mistake in a value, which stays without help unless it is given some.
    pub(super) fn mistake(&self, place: &Place, message: impl Into<String>) -> PlanError {
        PlanError::new(self.name, self.source, message).at(self.places.value(place), "here")
    }

    /// A mistake in a key.
    pub(super) fn mistaken_key(&self, place: &Place, message: impl Into<String>) -> PlanError {
        PlanError::new(self.name, self.source, message).at(self.places.key(place), "here")
    }

    /// Refuses a name that is none of those known.
    pub(super) fn known<S: AsRef<str>>(
        &self,
        place: &Place,
        kind: &str,
        name: &str,
        known: &[S],
    ) -> Result<(), PlanError> {
        if known.iter().any(|known| known.as_ref() == name) {
            return Ok(());
        }
        Err(self
            .mistake(place, format!("unknown {kind} `{name}`"))
            .help(meant::one_of(name, known)))
    }

    /// Refuses a count outside of its limits.
    pub(super) fn within(
        &self,
        place: &Place,
        what: &str,
        n: usize,
        least: usize,
        most: usize,
    ) -> Result<(), PlanError> {
        if (least..=most).contains(&n) {
            return Ok(());
        }
        Err(self
            .mistake(place, format!("{what} is {n}"))
            .help(format!("it may be {least} to {most}")))
    }

    /// Refuses a list that is too long.
    pub(super) fn at_most(
        &self,
        place: &Place,
        what: &str,
        n: usize,
        most: usize,
    ) -> Result<(), PlanError> {
        if n <= most {
            return Ok(());
        }
        Err(self
            .mistake(place, format!("{n} {what} are too many"))
            .help(format!("at most {most} are allowed")))
    }

    /// Refuses a span of nothing.
    pub(super) fn lasts(&self, place: &Place, what: &str, span: Span) -> Result<(), PlanError> {
        if span.ms() > 0 {
            return Ok(());
        }
        Err(self
            .mistake(place, format!("{what} lasts no time"))
            .help("give it at least `1ms`"))
    }
}
