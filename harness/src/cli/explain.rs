//! `explain`: the smallest set of decisions that turns every bad cell of a profile good.

use super::{
    args::{ExplainArgs, Format},
    failure::Failure,
    matrix::workloads,
    output::Output,
    player::Player,
};
use crate::{
    exit,
    explain::{
        Check, Decision, Explanation, Fresh, Search, Set, Trial, change, decisions, of, otherwise, parts,
    },
    history::Ability,
    matrix::{Cell, Fate, cells},
    plan,
    report::explain as report,
    run::RunError,
    sim::event::EventEngine,
};

/// Searches, checks, prints, and gives the exit code.
pub fn command(args: &ExplainArgs, output: &mut Output) -> Result<u8, Failure> {
    let Some(profile) = plan::PROFILES.into_iter().find(|profile| *profile == args.profile) else {
        return Err(Failure::unknown("profile", &args.profile, &plan::PROFILES));
    };
    let decisions = decisions(profile).map_err(|error| Failure::run(RunError::Policy(error)))?;
    let given = args.set.as_deref().map(|names| set(names, &decisions)).transpose()?;
    let as_it_is = enumerate(args, profile, &decisions, &Set::new())?;
    let player = Player::new(args, &decisions, &as_it_is);
    if let Some(share) = args.share {
        let set = given.unwrap_or_default();
        let fresh = args.fresh.then(|| enumerate(args, profile, &decisions, &set)).transpose()?;
        return Player { cells: fresh.as_ref().unwrap_or(&as_it_is), ..player }.share(share, &set, output);
    }
    let all: Vec<usize> = (0..as_it_is.len()).collect();
    let mut trials = player.spread(&Set::new(), &all)?;
    trials.retain(|trial| trial.fate.is_bad());
    if trials.is_empty() {
        output.line(report::nothing_to_explain(profile, as_it_is.len()))?;
        return Ok(if as_it_is.is_empty() { exit::INCONCLUSIVE } else { exit::AS_EXPECTED });
    }
    let explanation = explain(profile, &player, trials, given)?;
    match args.format {
        Format::Text => output.line(report::text(&explanation))?,
        Format::Json => output.line(serde_json::to_string(&explanation).unwrap_or_default())?,
    }
    Ok(if explanation.holds() { exit::AS_EXPECTED } else { exit::EXPECTED_FAILURE_MISSING })
}

fn set(names: &[String], decisions: &[Decision]) -> Result<Set, Failure> {
    let known: Vec<&str> = decisions.iter().map(|decision| decision.name.as_str()).collect();
    let place = |name: &String| {
        let place = known.iter().position(|known| known == name);
        place.ok_or_else(|| Failure::unknown("decision", name, &known))
    };
    names.iter().filter(|name| !name.is_empty()).map(place).collect()
}

/// The cells of the profile with the decisions of this set.
fn enumerate(
    args: &ExplainArgs,
    profile: &str,
    decisions: &[Decision],
    set: &Set,
) -> Result<Vec<Cell>, Failure> {
    let workloads = workloads(args.workload.as_deref())?;
    let otherwise = otherwise(decisions, set);
    let mut cells =
        cells(&[profile], &workloads, false, &otherwise, args.seed, &EventEngine).map_err(Failure::run)?;
    if let Some(name) = &args.ability {
        let known = Ability::ALL.map(Ability::name);
        if !known.contains(&name.as_str()) {
            return Err(Failure::unknown("ability", name, &known));
        }
        cells.retain(|cell| cell.ability.name() == name);
    }
    Ok(cells)
}

fn explain(
    profile: &str,
    player: &Player<'_>,
    bad: Vec<Trial>,
    given: Option<Set>,
) -> Result<Explanation, Failure> {
    let all: Vec<usize> = bad.iter().map(|trial| trial.number).collect();
    let mut search = Search::new(player, player.decisions, bad.clone());
    let is_smallest = given.is_none();
    let (set, cured) = match given {
        Some(set) => {
            let good = search.trials(&set)?.into_iter().filter(|trial| !trial.fate.is_bad());
            (set, good.map(|trial| trial.number).collect())
        }
        None => {
            let curable = search.curable()?;
            (search.smallest(&curable)?.unwrap_or_default(), curable)
        }
    };
    let (inside, not_needed) = parts(&mut search, player.decisions, &set, &cured)?;
    // What is given is taken at its word: nothing else stands in for it.
    let replacement = player.decisions.iter().position(Decision::replaces_everything);
    let replacement = replacement.filter(|_| is_smallest).map(|index| Set::from([index]));
    let rest: Vec<usize> = all.iter().copied().filter(|cell| !cured.contains(cell)).collect();
    let (before, after) = (of(&bad, &cured), of(&search.trials(&set)?, &cured));
    Ok(Explanation {
        profile: profile.into(),
        cells: player.cells.len(),
        bad: all.len(),
        is_smallest,
        set: inside,
        not_needed,
        cured: cured.len(),
        costs: change(&before, &after),
        replaced: if replacement.is_some() { rest.len() } else { 0 },
        check: check(player, &set, &cured, replacement.as_ref(), &rest)?,
        fresh: fresh(profile, player, &set, replacement.as_ref())?,
    })
}

/// Plays every bad cell once more: nothing that the search remembers is asked.
fn check(
    player: &Player<'_>,
    set: &Set,
    cured: &[usize],
    replacement: Option<&Set>,
    rest: &[usize],
) -> Result<Check, Failure> {
    let mut trials = player.spread(set, cured)?;
    trials.extend(player.spread(replacement.unwrap_or(set), rest)?);
    Ok(Check {
        played: trials.len(),
        place_gone: trials.iter().filter(|trial| trial.fate == Fate::Untested).count(),
        bad: names(player.cells, &trials),
    })
}

/// Plays the matrix that the set makes: a decision may bring places with it which can be hurt, too.
fn fresh(profile: &str, player: &Player<'_>, set: &Set, replacement: Option<&Set>) -> Result<Fresh, Failure> {
    let cells = enumerate(player.args, profile, player.decisions, set)?;
    let player = Player { cells: &cells, is_fresh: true, ..*player };
    let all: Vec<usize> = (0..cells.len()).collect();
    let mut trials = player.spread(set, &all)?;
    trials.retain(|trial| trial.fate.is_bad());
    let mut replaced = 0;
    if let Some(replacement) = replacement {
        replaced = trials.len();
        let numbers: Vec<usize> = trials.iter().map(|trial| trial.number).collect();
        trials = numbers.iter().map(|number| player.here(replacement, *number)).collect::<Result<_, _>>()?;
    }
    Ok(Fresh { cells: cells.len(), replaced, bad: names(&cells, &trials) })
}

/// The names of the bad ones.
fn names(cells: &[Cell], trials: &[Trial]) -> Vec<String> {
    trials.iter().filter(|trial| trial.fate.is_bad()).map(|trial| cells[trial.number].to_string()).collect()
}
