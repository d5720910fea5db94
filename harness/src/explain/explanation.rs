//! What an explanation says.

use serde::Serialize;

use super::{
    decision::{Decision, Set},
    price::Change,
    search::{Play, Search},
    trial::Trial,
};

/// The smallest set, what each of its decisions does, and what became of the check.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// Whose it is.
    pub profile: String,
    /// How many cells its matrix has.
    pub cells: usize,
    /// How many of them are bad.
    pub bad: usize,
    /// Whether every smaller set was tried and left a cell bad; not so where the set was given.
    pub is_smallest: bool,
    /// The decisions of the set, the one that cures most first.
    pub set: Vec<Part>,
    /// The decisions that are not in it.
    pub not_needed: Vec<Part>,
    /// How many bad cells this set turns good.
    pub cured: usize,
    /// What those cost with the set, beside what they cost as the profile is.
    pub costs: Change,
    /// Bad cells that no small decisions turn good: the receiver and queue of `strict` have to.
    pub replaced: usize,
    /// The check: the bad cells, played once more with the set.
    pub check: Check,
    /// The matrix as the profile would have it with the set, where new places may be hurt.
    pub fresh: Fresh,
}

/// A decision, and what it does.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// How the profile decides.
    pub decided: String,
    /// How `strict` does.
    pub instead: String,
    /// How many bad cells it cures alone.
    pub alone: usize,
    /// How many of the cured cells are bad again when it alone is left out of the set.
    pub in_set: usize,
    /// What the cured cells cost with it, beside what they cost with the rest of the set; none if it is not in the set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<Change>,
}

/// What became of the bad cells, played once more.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Check {
    /// How many were played.
    pub played: usize,
    /// Those which are good because nothing happens any more at the place where they were hurt.
    pub place_gone: usize,
    /// Those that are bad, by their names.
    pub bad: Vec<String>,
}

/// What became of the matrix that the set makes.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Fresh {
    /// How many cells it has.
    pub cells: usize,
    /// How many of them the receiver and queue of `strict` have to play, where they are at hand.
    pub replaced: usize,
    /// Those that are bad, by their names.
    pub bad: Vec<String>,
}

impl Explanation {
    /// Whether the set does what is said of it.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.check.bad.is_empty() && self.fresh.bad.is_empty()
    }
}

/// The decisions of a set and the others, the ones that cure most first.
///
/// # Errors
/// As those of the player.
pub fn parts<P: Play>(
    search: &mut Search<'_, P>,
    decisions: &[Decision],
    set: &Set,
    cured: &[usize],
) -> Result<(Vec<Part>, Vec<Part>), P::Error> {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    let with = of(&search.trials(set)?, cured);
    for (index, decision) in decisions.iter().enumerate().filter(|(_, it)| !it.replaces_everything()) {
        let good = |trials: &[Trial]| trials.iter().filter(|trial| !trial.fate.is_bad()).count();
        let mut part = Part {
            name: decision.name.clone(),
            decided: decision.decided.clone(),
            instead: decision.instead.clone(),
            alone: good(&search.trials(&Set::from([index]))?),
            in_set: 0,
            costs: None,
        };
        if !set.contains(&index) {
            outside.push(part);
            continue;
        }
        let rest = set.iter().copied().filter(|other| *other != index).collect();
        let without = of(&search.trials(&rest)?, cured);
        part.in_set = without.iter().filter(|trial| trial.fate.is_bad()).count();
        part.costs = Some(change(&without, &with));
        inside.push(part);
    }
    inside.sort_by_key(|part| std::cmp::Reverse((part.in_set, part.alone)));
    outside.sort_by_key(|part| std::cmp::Reverse(part.alone));
    Ok((inside, outside))
}

/// The trials of these cells.
#[must_use]
pub fn of(trials: &[Trial], cells: &[usize]) -> Vec<Trial> {
    trials.iter().filter(|trial| cells.contains(&trial.number)).cloned().collect()
}

/// What changes between trials of the same cells, in the same order.
#[must_use]
pub fn change(from: &[Trial], to: &[Trial]) -> Change {
    Change::of(from.iter().zip(to).map(|(from, to)| (&from.price, &to.price)))
}
