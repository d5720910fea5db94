//! Plays cells with other decisions: a few here, many in worker processes.

use super::{
    args::ExplainArgs,
    failure::Failure,
    output::Output,
    workers::{self, Share},
};
use crate::{
    exit,
    explain::{Decision, Play, Set, Trial, attempt},
    matrix::Cell,
    sim::event::EventEngine,
};

/// So few are not worth a process.
const FEW: usize = 16;

/// Whoever plays the cells of one profile.
#[derive(Clone, Copy)]
pub struct Player<'a> {
    /// What the command line says.
    pub args: &'a ExplainArgs,
    /// All decisions of the profile.
    pub decisions: &'a [Decision],
    /// All cells.
    pub cells: &'a [Cell],
    /// Whether they are those which the set makes.
    pub is_fresh: bool,
}

impl<'a> Player<'a> {
    /// One that plays the cells of a profile as it is.
    pub fn new(args: &'a ExplainArgs, decisions: &'a [Decision], cells: &'a [Cell]) -> Self {
        Self { args, decisions, cells, is_fresh: false }
    }

    /// Plays one in this process.
    pub fn here(&self, set: &Set, number: usize) -> Result<Trial, Failure> {
        let cell = &self.cells[number];
        attempt(number, cell, self.decisions, set, self.args.seed, &EventEngine)
            .map_err(|error| Failure::run(error).about(&cell.to_string()))
    }

    /// Plays its share of the wanted cells and prints a result a line: what the worker processes do.
    pub fn share(&self, share: Share, set: &Set, output: &mut Output) -> Result<u8, Failure> {
        let wanted: Vec<usize> = match &self.args.cells {
            Some(cells) => cells.iter().copied().filter(|number| *number < self.cells.len()).collect(),
            None => (0..self.cells.len()).collect(),
        };
        for (_, number) in wanted.into_iter().enumerate().filter(|(place, _)| share.has(*place)) {
            output.line(serde_json::to_string(&self.here(set, number)?).unwrap_or_default())?;
        }
        Ok(exit::AS_EXPECTED)
    }

    /// The results of these cells, in their order.
    pub fn spread(&self, set: &Set, cells: &[usize]) -> Result<Vec<Trial>, Failure> {
        if cells.len() <= FEW {
            return cells.iter().map(|number| self.here(set, *number)).collect();
        }
        let lines = workers::lines_of_all(&self.words(set, cells), workers::cores())?;
        let mut trials: Vec<Trial> =
            lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>().map_err(
                |error: serde_json::Error| {
                    Failure::input_says(format!("a worker printed no result: {error}"))
                },
            )?;
        trials.sort_by_key(|trial| trial.number);
        match trials.len() {
            count if count == cells.len() => Ok(trials),
            count => Err(Failure::input_says(format!("the workers played {count} of {} cells", cells.len()))),
        }
    }

    fn words(&self, set: &Set, cells: &[usize]) -> Vec<String> {
        let names: Vec<&str> = set.iter().map(|index| self.decisions[*index].name.as_str()).collect();
        let mut words = vec!["explain".into(), self.args.profile.clone(), "--set".into(), names.join(",")];
        words.extend(["--seed".into(), self.args.seed.to_string()]);
        if let Some(workload) = &self.args.workload {
            words.extend(["--workload".into(), workload.clone()]);
        }
        if let Some(ability) = &self.args.ability {
            words.extend(["--ability".into(), ability.clone()]);
        }
        if self.is_fresh {
            words.push("--fresh".into());
        }
        if cells.len() < self.cells.len() {
            let numbers: Vec<String> = cells.iter().map(usize::to_string).collect();
            words.extend(["--cells".into(), numbers.join(",")]);
        }
        words
    }
}

impl Play for Player<'_> {
    type Error = Failure;

    fn one(&self, set: &Set, cell: usize) -> Result<Trial, Failure> {
        self.here(set, cell)
    }

    fn all(&self, set: &Set, cells: &[usize]) -> Result<Vec<Trial>, Failure> {
        self.spread(set, cells)
    }
}
