//! The folder of a cell: plan, history, timeline and digest.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::failure::Failure;
use crate::{
    history,
    plan::Plan,
    report::{
        played::{Played, plan_name},
        timeline::{LEGEND, timeline},
    },
};

/// Makes the folder in which all cells are written; before anything is played, since that may take long.
pub fn prepare(out: &Path) -> Result<(), Failure> {
    fs::create_dir_all(out)
        .map_err(|error| Failure::input_says(format!("cannot write to {}: {error}", out.display())))
}

/// Where the plan of a cell is written.
pub fn plan(out: &Path, plan: &Plan) -> PathBuf {
    out.join(plan_name(plan)).join("plan.toml")
}

/// Writes a cell into a folder of its name.
pub fn write(out: &Path, cell: &Played) -> Result<(), Failure> {
    let folder = out.join(cell.name());
    let failed = |error: &io::Error| Failure::io(format!("cannot write {}", folder.display()), error);
    let plan = cell.plan.to_toml().map_err(|error| Failure::input_says(error.to_string()))?;
    let mut history = Vec::new();
    history::write(&cell.outcome.history, &mut history).map_err(|error| failed(&error))?;
    let picture = format!("{}\n{LEGEND}\n", timeline(&cell.outcome.history));
    let files: [(&str, &[u8]); 4] = [
        ("plan.toml", plan.as_bytes()),
        ("history.ndjson", &history),
        ("timeline.txt", picture.as_bytes()),
        ("digest.txt", cell.outcome.digest.as_bytes()),
    ];
    fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
    for (name, content) in files {
        fs::write(folder.join(name), content).map_err(|error| failed(&error))?;
    }
    Ok(())
}
