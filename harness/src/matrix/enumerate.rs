//! Every cell there is, found by playing each workload once and looking where it goes.

use std::collections::BTreeSet;

use super::{Cell, Hurt, Otherwise, Place, Retry, Workload, cell::bare};
use crate::{
    history::Event,
    plan::{Message, Plan},
    run::{RunError, run_with},
    sim::{
        actors::{database, redis},
        cast::DATABASE,
        engine::Engine,
    },
};

/// All cells of these profiles and workloads, in a fixed order. `blind` leaves the named points out: what is left can be found
/// without any help from the system under test. `otherwise` is decided in each of these profiles otherwise than it has it.
///
/// # Errors
/// As [`run_with`].
pub fn cells(
    profiles: &[&str],
    workloads: &[Workload],
    blind: bool,
    otherwise: &Otherwise,
    seed: u64,
    engine: &dyn Engine,
) -> Result<Vec<Cell>, RunError> {
    let mut cells = Vec::new();
    for profile in profiles {
        for workload in workloads.iter().copied() {
            if !workload.profiles().any(|known| known == *profile) {
                continue;
            }
            for ability in &workload.scenario().world.abilities {
                let plan = otherwise.over(bare(workload, profile, *ability, seed));
                cells.extend(of(workload, &plan, blind, otherwise, engine)?);
            }
        }
    }
    Ok(cells)
}

/// The cells of a workload as this plan plays it, unhurt.
fn of(
    workload: Workload,
    plan: &Plan,
    blind: bool,
    otherwise: &Otherwise,
    engine: &dyn Engine,
) -> Result<Vec<Cell>, RunError> {
    let mut cells = Vec::new();
    let (places, store) = places(plan, otherwise, engine)?;
    let has_redis = plan.scenario.needs_redis();
    for place in places.iter().filter(|place| !blind || matches!(place, Place::Message(_))) {
        for hurt in Hurt::ALL {
            let Some(fault) = hurt.at(place, store, has_redis) else { continue };
            cells.extend(Retry::ALL.map(|retry| Cell {
                workload,
                profile: plan.profile().into(),
                ability: plan.ability(),
                place: place.clone(),
                hurt,
                retry,
                fault: fault.clone(),
            }));
        }
    }
    Ok(cells)
}

/// Every point and every message of a run, and the host that keeps its truth: the database where one is asked, else Redis.
fn places(
    plan: &Plan,
    otherwise: &Otherwise,
    engine: &dyn Engine,
) -> Result<(Vec<Place>, Option<&'static str>), RunError> {
    let outcome = run_with(plan, engine, otherwise.options())?;
    let mut points: Vec<Place> = Vec::new();
    for entry in &outcome.history.entries {
        if let Event::Point { point, nth } = &entry.event
            && !database::POINTS.contains(&point.as_str())
        {
            points.push(Place::Point { host: entry.host.clone(), point: point.clone(), nth: *nth });
        }
    }
    let mut hosts = BTreeSet::new();
    let mut messages = Vec::new();
    for ((from, to), count) in &outcome.messages {
        hosts.insert(to.as_str());
        messages.extend(
            (1..=*count).map(|nth| Place::Message(Message { from: from.clone(), to: to.clone(), nth })),
        );
    }
    let store = [DATABASE, redis::HOST].into_iter().find(|host| hosts.contains(host));
    points.extend(messages);
    Ok((points, store))
}
