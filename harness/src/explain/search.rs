//! The search for the smallest set.

use std::collections::BTreeMap;

use super::{
    decision::{Decision, Set},
    price::Prices,
    trial::Trial,
};

/// Whoever plays cells, by their numbers, with the decisions of a set.
pub trait Play {
    /// Why nothing is played.
    type Error;

    /// Plays one, here and now.
    ///
    /// # Errors
    /// When it cannot be played.
    fn one(&self, set: &Set, cell: usize) -> Result<Trial, Self::Error>;

    /// Plays all of these.
    ///
    /// # Errors
    /// When one of them cannot be played.
    fn all(&self, set: &Set, cells: &[usize]) -> Result<Vec<Trial>, Self::Error>;
}

/// So many cells are tried one by one before all are: most sets fail at what the sets before them failed at.
const TOUGHEST: usize = 24;

/// The search among the decisions of one profile.
pub struct Search<'a, P> {
    player: &'a P,
    /// Which decisions may be in a set; not those that replace everything.
    small: Vec<usize>,
    /// The cells that are bad as the profile is.
    bad: Vec<usize>,
    /// What is known, by set and cell.
    known: BTreeMap<Set, BTreeMap<usize, Trial>>,
    /// The cells at which sets failed, the latest first.
    toughest: Vec<usize>,
}

impl<'a, P: Play> Search<'a, P> {
    /// A search that begins with the trials of bad cells as the profile is.
    pub fn new(player: &'a P, decisions: &[Decision], bad: Vec<Trial>) -> Self {
        let small = (0..decisions.len()).filter(|index| !decisions[*index].replaces_everything()).collect();
        let cells: Vec<usize> = bad.iter().map(|trial| trial.number).collect();
        let by_cell = bad.into_iter().map(|trial| (trial.number, trial)).collect();
        Self {
            player,
            small,
            toughest: cells.clone(),
            bad: cells,
            known: BTreeMap::from([(Set::new(), by_cell)]),
        }
    }

    /// What becomes of every bad cell with this set; each is played at most once.
    ///
    /// # Errors
    /// As those of the player.
    pub fn trials(&mut self, set: &Set) -> Result<Vec<Trial>, P::Error> {
        let known = self.known.entry(set.clone()).or_default();
        let missing: Vec<usize> = self.bad.iter().copied().filter(|cell| !known.contains_key(cell)).collect();
        if !missing.is_empty() {
            let played = self.player.all(set, &missing)?;
            known.extend(played.into_iter().map(|trial| (trial.number, trial)));
        }
        Ok(known.values().cloned().collect())
    }

    /// The cells that all small decisions together make good.
    ///
    /// # Errors
    /// As those of the player.
    pub fn curable(&mut self) -> Result<Vec<usize>, P::Error> {
        let all = self.small.iter().copied().collect();
        let trials = self.trials(&all)?;
        Ok(trials.into_iter().filter(|trial| !trial.fate.is_bad()).map(|trial| trial.number).collect())
    }

    /// The smallest set with which each of these cells is good, found by trying all smaller ones; of several, the one that
    /// costs least. None if even all decisions together leave one bad.
    ///
    /// # Errors
    /// As those of the player.
    pub fn smallest(&mut self, cells: &[usize]) -> Result<Option<Set>, P::Error> {
        for size in 0..=self.small.len() {
            let mut cheapest: Option<(Prices, Set)> = None;
            for set in sets_of(&self.small, size) {
                if !self.makes_good(&set, cells)? {
                    continue;
                }
                let prices = Prices::of(self.trials(&set)?.iter().map(|trial| &trial.price));
                if cheapest.as_ref().is_none_or(|(least, _)| prices < *least) {
                    cheapest = Some((prices, set));
                }
            }
            if let Some((_, set)) = cheapest {
                return Ok(Some(set));
            }
        }
        Ok(None)
    }

    fn makes_good(&mut self, set: &Set, cells: &[usize]) -> Result<bool, P::Error> {
        let tough: Vec<usize> =
            self.toughest.iter().copied().filter(|cell| cells.contains(cell)).take(TOUGHEST).collect();
        for cell in tough {
            if self.is_bad(set, cell)? {
                self.remember(cell);
                return Ok(false);
            }
        }
        let trials = self.trials(set)?;
        let failed = trials.iter().find(|trial| trial.fate.is_bad() && cells.contains(&trial.number));
        if let Some(trial) = failed {
            self.remember(trial.number);
        }
        Ok(failed.is_none())
    }

    fn is_bad(&mut self, set: &Set, cell: usize) -> Result<bool, P::Error> {
        let known = self.known.entry(set.clone()).or_default();
        if let Some(trial) = known.get(&cell) {
            return Ok(trial.fate.is_bad());
        }
        let trial = self.player.one(set, cell)?;
        let is_bad = trial.fate.is_bad();
        known.insert(cell, trial);
        Ok(is_bad)
    }

    fn remember(&mut self, cell: usize) {
        self.toughest.retain(|other| *other != cell);
        self.toughest.insert(0, cell);
    }
}

/// All sets of this size, in order.
fn sets_of(among: &[usize], size: usize) -> Vec<Set> {
    if size == 0 {
        return vec![Set::new()];
    }
    let with_first = |place: usize| {
        sets_of(&among[place + 1..], size - 1).into_iter().map(move |mut set| {
            set.insert(among[place]);
            set
        })
    };
    (0..among.len()).flat_map(with_first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{explain::Price, explain::decision::Take, matrix::Fate};

    /// Cell n is cured by the decisions of `cures[n]`, all together.
    struct Model {
        cures: Vec<Set>,
    }

    impl Play for Model {
        type Error = std::convert::Infallible;

        fn one(&self, set: &Set, number: usize) -> Result<Trial, Self::Error> {
            let fate = if self.cures[number].is_subset(set) { Fate::Kept } else { Fate::Lost };
            // The decision 1 is dear.
            let price = Price { rows: if set.contains(&1) { 9 } else { 1 }, ..Price::default() };
            Ok(Trial { number, fate, price })
        }

        fn all(&self, set: &Set, cells: &[usize]) -> Result<Vec<Trial>, Self::Error> {
            cells.iter().map(|cell| self.one(set, *cell)).collect()
        }
    }

    fn smallest(cures: &[&[usize]], decisions: usize) -> Option<Set> {
        let model = Model { cures: cures.iter().map(|set| set.iter().copied().collect()).collect() };
        let decision = |name: usize| Decision {
            name: name.to_string(),
            decided: String::new(),
            instead: String::new(),
            take: Take::Structure(|_| {}),
        };
        let decisions: Vec<Decision> = (0..decisions).map(decision).collect();
        let cells: Vec<usize> = (0..cures.len()).collect();
        let Ok(bad) = model.all(&Set::new(), &cells);
        let Ok(found) = Search::new(&model, &decisions, bad).smallest(&cells);
        found
    }

    #[test]
    fn the_smallest_set_has_no_decision_too_many() {
        assert_eq!(smallest(&[&[0], &[2, 3], &[0, 3]], 5), Some(Set::from([0, 2, 3])));
        assert_eq!(smallest(&[], 3), Some(Set::new()));
        assert_eq!(smallest(&[&[7]], 3), None);
    }

    #[test]
    fn sets_of_a_size_are_all_of_them() {
        assert_eq!(sets_of(&[3, 5, 8], 2), [Set::from([3, 5]), Set::from([3, 8]), Set::from([5, 8])]);
        assert_eq!(sets_of(&[1, 2], 3), Vec::<Set>::new());
    }
}
