//! Sorted sets.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

/// Members by score, then by their bytes.
#[derive(Debug, Clone, Default)]
pub struct SortedSet {
    scores: BTreeMap<Vec<u8>, Score>,
    order: BTreeSet<(Score, Vec<u8>)>,
}

/// A score, which is never NaN, and of which there is but one zero.
#[derive(Debug, Clone, Copy)]
pub struct Score(f64);

impl Score {
    /// A score, unless it is no number.
    pub fn new(score: f64) -> Option<Self> {
        // Adding zero makes a negative zero positive.
        (!score.is_nan()).then_some(Self(score + 0.0))
    }

    /// Reads a score as Redis does.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        // Rust reads the same numbers as C does, hexadecimal ones aside, which nobody writes.
        Self::new(text.parse().ok()?)
    }

    /// Reads the bound of a range, where Redis is less strict: no digits are zero.
    pub fn parse_bound(text: &[u8]) -> Option<Self> {
        match text.trim_ascii_start() {
            b"" if text.is_empty() => Self::new(0.0),
            text => Self::parse(text),
        }
    }

    /// As a number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Score {}

impl SortedSet {
    /// How many members there are.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// The score of a member.
    pub fn score(&self, member: &[u8]) -> Option<Score> {
        self.scores.get(member).copied()
    }

    /// Gives a member this score.
    pub fn insert(&mut self, member: &[u8], score: Score) {
        self.remove(member);
        self.scores.insert(member.to_vec(), score);
        self.order.insert((score, member.to_vec()));
    }

    /// Removes a member, and says whether there was one.
    pub fn remove(&mut self, member: &[u8]) -> bool {
        let Some(score) = self.scores.remove(member) else { return false };
        self.order.remove(&(score, member.to_vec()))
    }

    /// The members whose scores lie between two bounds, in order.
    pub fn between(
        &self,
        min: Bound<Score>,
        max: Bound<Score>,
    ) -> impl Iterator<Item = (&[u8], Score)> + use<'_> {
        let from = match min {
            Bound::Included(score) | Bound::Excluded(score) => Bound::Included((score, Vec::new())),
            Bound::Unbounded => Bound::Unbounded,
        };
        let beyond_min = move |score: Score| !matches!(min, Bound::Excluded(min) if score <= min);
        let within = move |score: Score| match max {
            Bound::Included(max) => score <= max,
            Bound::Excluded(max) => score < max,
            Bound::Unbounded => true,
        };
        self.order
            .range((from, Bound::Unbounded))
            .skip_while(move |(score, _)| !beyond_min(*score))
            .take_while(move |(score, _)| within(*score))
            .map(|(score, member)| (member.as_slice(), *score))
    }
}
