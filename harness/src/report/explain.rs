//! An explanation for people.

use std::fmt::Write as _;

use crate::explain::{Explanation, Part, Prices, RECEIVER_OF_STRICT};

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
        decision(&mut text, number + 1, part, it);
    }
    let _ = writeln!(text, "\nthe {} cells as they are:   {}", it.cured, prices(&it.before));
    let _ = writeln!(text, "the same with the decisions: {}", prices(&it.after));
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

fn decision(text: &mut String, number: usize, part: &Part, it: &Explanation) {
    let Part { name, decided, instead, alone, in_set, without } = part;
    let _ = writeln!(text, "{number}. {name}: {instead}, not {decided}");
    let _ = writeln!(text, "   cures {alone} alone; left out of the set, {in_set} are bad again");
    if let Some(without) = without {
        let _ = writeln!(text, "   costs {}", costs(without, &it.after));
    }
}

/// What comes on top of the others.
fn costs(without: &Prices, with: &Prices) -> String {
    let by = |less: usize, more: usize| more as i64 - less as i64;
    let of = |less: u64, more: u64| more as i64 - less as i64;
    let changes = [
        (of(without.answer_ms, with.answer_ms), "ms to the first success told (median)"),
        (of(without.effect_ms, with.effect_ms), "ms to the effect (median)"),
        (by(without.not_done, with.not_done), "cells not done or unknown"),
        (by(without.never_told, with.never_told), "cells in which nobody is told of success"),
        (of(without.store_requests, with.store_requests), "requests to the stores"),
        (of(without.rows, with.rows), "rows kept"),
    ];
    let told = changes.into_iter().filter(|(change, _)| *change != 0);
    let told: Vec<String> = told.map(|(change, what)| format!("{change:+} {what}")).collect();
    if told.is_empty() { "nothing that is measured".into() } else { told.join(", ") }
}

fn prices(it: &Prices) -> String {
    format!(
        "success told after {} ms, effect after {} ms (medians), {} not done or unknown, {} never told of success, {} requests to the stores, {} rows kept",
        it.answer_ms, it.effect_ms, it.not_done, it.never_told, it.store_requests, it.rows
    )
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
    let _ =
        writeln!(text, "\ncheck: {} bad cells played again with the set, {good} good{gone}", it.check.played);
    bad(text, &it.check.bad);
    let by_others = match it.fresh.replaced {
        0 => String::new(),
        count => format!(", {count} of them played by {RECEIVER_OF_STRICT}"),
    };
    let (all, count) = (it.fresh.cells, it.fresh.bad.len());
    let _ =
        writeln!(text, "check: the matrix that the set makes has {all} cells{by_others}; {count} are bad");
    bad(text, &it.fresh.bad);
}

fn bad(text: &mut String, names: &[String]) {
    for name in names.iter().take(NAMED) {
        let _ = writeln!(text, "  bad: {name}");
    }
    if names.len() > NAMED {
        let _ = writeln!(text, "  and {} more", names.len() - NAMED);
    }
}
