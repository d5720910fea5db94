//! An explanation for people.

use std::fmt::Write as _;

use crate::explain::{Change, Explanation, Part, RECEIVER_OF_STRICT};

/// So many bad cells are named.
const NAMED: usize = 5;

/// Where no cell is bad.
#[must_use]
pub fn nothing_to_explain(profile: &str, cells: usize) -> String {
    format!("{profile}: none of {cells} cells breaks a promise; there is nothing to explain")
}

/// For people.
#[must_use]
pub fn text(it: &Explanation) -> String {
    let mut text = heading(it);
    for (number, part) in it.set.iter().enumerate() {
        decision(&mut text, number + 1, part);
    }
    if it.set.len() > 1 {
        let _ = writeln!(text, "together they cost {}", costs(&it.costs));
    }
    if !it.not_needed.is_empty() {
        let one = |part: &Part| format!("{} (cures {} alone)", part.name, part.alone);
        let others: Vec<String> = it.not_needed.iter().map(one).collect();
        let _ = writeln!(text, "not needed: {}", others.join(", "));
    }
    replaced(&mut text, it);
    check(&mut text, it);
    text.truncate(text.trim_end().len());
    text
}

fn heading(it: &Explanation) -> String {
    let cured = if it.cured == it.bad { "all of them".into() } else { format!("{} of them", it.cured) };
    let set = match (it.is_smallest, it.set.len()) {
        (true, 0) => "no set of small decisions cures any".into(),
        (true, 1) => format!("one decision cures {cured}"),
        (true, count) => {
            format!("{count} decisions cure {cured}, and no smaller set does: each was tried")
        }
        (false, count) => format!("the {count} decisions given cure {cured}"),
    };
    format!("── {}: {} of {} cells break a promise; {set}\n", it.profile, it.bad, it.cells)
}

fn decision(text: &mut String, number: usize, part: &Part) {
    let Part { name, decided, instead, alone, in_set, costs: its_costs } = part;
    let _ = writeln!(text, "{number}. {name}: {decided} -> {instead}");
    let _ = writeln!(text, "   cures {alone} alone; left out of the set, {in_set} are bad again");
    if let Some(change) = its_costs {
        let _ = writeln!(text, "   costs {}", costs(change));
    }
}

/// Beside the same cells without it.
fn costs(change: &Change) -> String {
    let changes = [
        (change.answer_ms, "ms to the definite answer"),
        (change.effect_ms, "ms to the effect"),
        (change.not_done, "cells not done or unknown"),
        (change.unanswered, "cells without a definite answer"),
        (change.store_requests, "requests to the stores"),
        (change.rows, "rows kept"),
    ];
    let told = changes.into_iter().filter(|(change, _)| *change != 0);
    let told: Vec<String> = told.map(|(change, what)| format!("{change:+} {what}")).collect();
    if told.is_empty() { "nothing that is measured".into() } else { told.join(", ") }
}

fn replaced(text: &mut String, it: &Explanation) {
    if it.replaced > 0 {
        let _ = writeln!(
            text,
            "{} cells are left that no set of these cures: they need {RECEIVER_OF_STRICT}, which replaces everything (inbox, jobs and outbox in the database)",
            it.replaced
        );
    }
}

fn check(text: &mut String, it: &Explanation) {
    let good = it.check.played - it.check.bad.len();
    let gone = match it.check.place_gone {
        0 => String::new(),
        count => format!(" ({count} because nothing happens any more where they were hurt)"),
    };
    let (played, replaced) = (it.check.played, by_others(it.replaced));
    let _ =
        writeln!(text, "\ncheck: {played} bad cells played again with the set{replaced}; {good} good{gone}");
    bad(text, &it.check.bad);
    let (all, count, replaced) = (it.fresh.cells, it.fresh.bad.len(), by_others(it.fresh.replaced));
    let _ = writeln!(text, "check: the matrix that the set makes has {all} cells{replaced}; {count} bad");
    bad(text, &it.fresh.bad);
}

fn by_others(count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!(", {count} of them by {RECEIVER_OF_STRICT}"),
    }
}

fn bad(text: &mut String, names: &[String]) {
    for name in names.iter().take(NAMED) {
        let _ = writeln!(text, "  bad: {name}");
    }
    if names.len() > NAMED {
        let _ = writeln!(text, "  and {} more", names.len() - NAMED);
    }
}
