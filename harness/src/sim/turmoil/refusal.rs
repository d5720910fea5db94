//! What this engine cannot play, found by looking at a plan's faults before anything starts.

use crate::{
    plan::Fault,
    sim::{
        action::{Action, effects},
        engine::CannotPlay,
    },
};

const HOLDS: &str =
    "turmoil drops what is sent into a one-way cut, and cannot give it back when the cut mends";
const FREEZES: &str = "turmoil runs every living host at every tick, so none can be suspended";
const STOPS: &str = "a process that ends by itself stays on its host here until the run ends";
const REFUSES: &str = "turmoil closes a port together with its process, never alone";
const SLOWS: &str = "turmoil's delays are one range for all links";
const CLOCKS: &str = "its hosts share one clock here: skew is tried on the other engine";
const PICKS: &str = "turmoil drops by link, not by message, and does not tell which message is leaving";

/// Names every fault of a plan that cannot be played, and why.
///
/// # Errors
/// When there is such a fault.
pub fn look(faults: &[Fault]) -> Result<(), CannotPlay> {
    let named: Vec<String> = faults
        .iter()
        .zip(1..)
        .filter_map(|(fault, number)| {
            let why = why_not(fault)?;
            Some(format!("fault {number} {}, but {why}", words(fault)))
        })
        .collect();
    if named.is_empty() {
        return Ok(());
    }
    Err(CannotPlay(named.join("; ")))
}

fn words(fault: &Fault) -> String {
    let what = effects(fault).what;
    match fault.when.as_ref().and_then(|when| when.message.as_ref()) {
        Some(message) => format!("{what} when message {message} leaves"),
        None => what,
    }
}

fn why_not(fault: &Fault) -> Option<&'static str> {
    let waits_for_message = fault.when.as_ref().is_some_and(|when| when.message.is_some());
    if waits_for_message || fault.lose.is_some() || fault.delay.is_some() {
        return Some(PICKS);
    }
    effects(fault).begin.iter().find_map(|action| match action {
        Action::Cut { lost: false, .. } => Some(HOLDS),
        Action::Stop(_) => Some(STOPS),
        Action::Freeze(_) | Action::Thaw(_) => Some(FREEZES),
        Action::Refuse(_) | Action::Admit(_) => Some(REFUSES),
        Action::Slow { .. } => Some(SLOWS),
        Action::SetClock { .. } => Some(CLOCKS),
        Action::Cut { lost: true, .. }
        | Action::Mend { .. }
        | Action::Kill { .. }
        | Action::Start(_)
        | Action::Change(_) => None,
    })
}
