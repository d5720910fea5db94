//! `fenced`: a stale owner cannot finish, renew or release, and no token is ever given out twice.

use std::collections::BTreeMap;

use crate::history::{Event, History};

use super::fenced_rows;
use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::Slot;
use super::waiver::Losses;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "fenced",
    kind: Kind::Safety,
    promise: "Whoever lost a key or a job writes nothing about it, and no token is given out twice.",
    rules: &["S10", "W7"],
    judge,
};

/// A token given out or a mark, against which a later command can be stale; or that command.
struct Step<'a> {
    index: usize,
    command: &'a str,
    token: Option<i64>,
    reference: Option<&'a str>,
}

/// What is known of one store. The memory of each incarnation of a gateway is a store of its own.
#[derive(Default)]
struct Ledger<'a> {
    granted_at: BTreeMap<i64, usize>,
    steps: BTreeMap<Slot<'a>, Vec<Step<'a>>>,
}

fn judge(history: &History) -> Ruling {
    let losses = Losses::of(history);
    let mut findings = Findings::default();
    let mut ledgers: BTreeMap<&str, Ledger<'_>> = BTreeMap::new();
    for (index, entry) in history.indexed() {
        if let Event::Store { store, .. } = &entry.event {
            let ledger = ledgers.entry(store).or_default();
            ledger.transaction(index, &entry.event, &losses, &mut findings);
        }
    }
    fenced_rows::judge(history, &losses, &mut findings);
    findings.ruling()
}

impl<'a> Ledger<'a> {
    fn transaction(&mut self, index: usize, event: &'a Event, losses: &Losses<'a>, findings: &mut Findings) {
        let Event::Store { store, command, scope, key, token, granted, reply, reference, .. } = event else {
            return;
        };
        let (command, reference) = (command.as_str(), reference.as_deref());
        let steps = self.steps.entry((scope, key)).or_default();
        if let Some(granted) = granted {
            findings.relevant();
            if let Some(earlier) = self.granted_at.insert(*granted, index) {
                let waiver = losses.waives_between(store, earlier, index);
                findings.breach(waiver, format!("token {granted} was given out twice"), [earlier, index]);
            }
            steps.push(Step { index, command, token: Some(*granted), reference: None });
        }
        if reply != "applied" {
            return;
        }
        let step = Step { index, command, token: *token, reference };
        let waiver = |since| losses.waives((scope, key), since, index);
        judge_write(&step, steps, waiver, findings);
        if command == "mark" {
            // Its token was given out by another step: here only the reference counts.
            steps.push(Step { token: None, ..step });
        }
    }
}

fn judge_write(
    write: &Step<'_>,
    steps: &[Step<'_>],
    waiver: impl Fn(usize) -> Option<&'static str>,
    findings: &mut Findings,
) {
    let stale = match (write.command, write.token, write.reference) {
        ("done", _, Some(reference)) => stale_reference(reference, steps),
        (_, Some(token), _) => stale_token(write.command, token, steps),
        _ => return,
    };
    findings.relevant();
    if let Some((own, newer)) = stale {
        let why = format!(
            "{} was applied for an owner that had lost the key to a later {}",
            write.command, newer.command
        );
        let places = [newer.index, write.index];
        findings.breach(waiver(own.unwrap_or(0)), why, own.into_iter().chain(places));
    }
}

/// Where the writer's token was given out, and the later grant that makes it stale. A token that this key
/// never got is as old as a log that was cut off: every grant is newer.
fn stale_token<'s, 'a>(
    command: &str,
    token: i64,
    steps: &'s [Step<'a>],
) -> Option<(Option<usize>, &'s Step<'a>)> {
    let own = steps.iter().rposition(|step| step.token == Some(token));
    let settles = matches!(command, "release" | "release-asked" | "ask-later");
    let newer = steps[own.map_or(0, |own| own + 1)..]
        .iter()
        .rfind(|step| matches!(step.command, "claim" | "fence") || (settles && step.command == "begin-ask"));
    newer.map(|newer| (own.map(|own| steps[own].index), newer))
}

/// Where the proved reference was marked, and the later claim or mark that made the record another's.
fn stale_reference<'s, 'a>(reference: &str, steps: &'s [Step<'a>]) -> Option<(Option<usize>, &'s Step<'a>)> {
    let own = steps.iter().rposition(|step| step.reference == Some(reference));
    let newer = match own {
        Some(own) => steps[own..]
            .iter()
            .rfind(|step| step.command == "claim" || step.reference.is_some_and(|other| other != reference)),
        None => steps.iter().rfind(|step| step.reference.is_some()),
    };
    newer.map(|newer| (own.map(|own| steps[own].index), newer))
}

#[cfg(test)]
mod tests {
    use super::super::waiver::LOST_COMMITS;
    use super::*;
    use crate::history::build::Build;

    fn verdict(build: Build) -> Ruling {
        judge(&build.history())
    }

    fn assert_bad(build: Build, evidence: &[usize]) {
        let ruling = verdict(build);
        assert!(ruling.is_violated(), "{ruling:?}");
        assert_eq!(ruling.evidence(), evidence, "{}", ruling.why());
    }

    fn applied(build: Build, command: &str, token: i64) -> Build {
        build.store(command, "k1", Some(token), None, "applied", None, None)
    }

    #[test]
    fn without_a_store_nothing_is_known() {
        let history = Build::new().request("a", 1, "k1").ok(1, "m1");
        assert_eq!(verdict(history), Ruling::Inconclusive);
    }

    #[test]
    fn an_owner_that_finishes_is_kept() {
        let history = Build::new().claim("k1", 1).mark("k1", 1, "r1").done("k1", "r1");
        assert_eq!(verdict(history), Ruling::Kept);
    }

    #[test]
    fn an_owner_may_go_on_under_the_token_of_its_fencing_write() {
        let history =
            Build::new().claim("k1", 1).fence("k1", 2).mark("k1", 2, "r1").fence("k1", 3).done("k1", "r1");
        assert_eq!(verdict(history), Ruling::Kept);
    }

    #[test]
    fn a_stale_owner_that_is_fenced_is_kept() {
        let history = Build::new()
            .claim("k1", 1)
            .claim("k1", 2)
            .store("mark", "k1", Some(1), None, "fenced", None, Some("r1"))
            .mark("k1", 2, "r2");
        assert_eq!(verdict(history), Ruling::Kept);
    }

    #[test]
    fn a_stale_owner_that_writes_is_a_breach() {
        let taken_over = || Build::new().claim("k1", 1).claim("k1", 2);
        assert_bad(taken_over().mark("k1", 1, "r1"), &[0, 1, 2]);
        assert_bad(taken_over().unknown("k1", 1), &[0, 1, 2]);
        assert_bad(taken_over().release("k1", 1), &[0, 1, 2]);
        assert_bad(Build::new().claim("k1", 1).fence("k1", 2).mark("k1", 1, "r1"), &[0, 1, 2]);
    }

    #[test]
    fn the_evidence_names_the_owner_of_the_moment() {
        let history = Build::new().claim("k1", 1).claim("k1", 2).claim("k1", 3);
        assert_eq!(judge(&history.history()), Ruling::Kept);
        let history = Build::new().claim("k1", 1).claim("k1", 2).claim("k1", 3);
        assert_bad(history.mark("k1", 1, "r1"), &[0, 2, 3]);
    }

    #[test]
    fn a_claim_on_another_key_makes_nobody_stale() {
        let history = Build::new().claim("k1", 1).claim("k2", 2).mark("k1", 1, "r1");
        assert_eq!(verdict(history), Ruling::Kept);
    }

    #[test]
    fn a_token_from_before_the_log_is_older_than_every_grant() {
        assert_eq!(verdict(Build::new().mark("k1", 1, "r1")), Ruling::Kept);
        assert_bad(Build::new().claim("k1", 2).mark("k1", 1, "r1"), &[0, 1]);
    }

    #[test]
    fn a_token_is_given_out_once_over_all_keys() {
        assert_bad(Build::new().claim("k1", 1).claim("k2", 1), &[0, 1]);
        assert_bad(Build::new().claim("k1", 1).begin_ask("k1", 1, "r1"), &[0, 1]);
    }

    #[test]
    fn a_token_of_a_lost_commit_may_be_given_out_again() {
        let again = Build::new().claim("k1", 1).loses(1).claim("k2", 1);
        assert!(matches!(verdict(again), Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS));
        let thrice = Build::new().claim("k1", 1).loses(1).claim("k2", 1).claim("k3", 1);
        assert_bad(thrice, &[2, 3]);
    }

    #[test]
    fn after_lost_commits_a_stale_write_is_waived_and_by_a_later_claim_it_is_not() {
        let proof = Build::new().claim("k1", 1).mark("k1", 1, "r1").loses(1).claim("k1", 2);
        assert!(
            matches!(verdict(proof.done("k1", "r1")), Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS)
        );
        let later = Build::new().claim("k1", 1).loses(1).claim("k1", 2).claim("k1", 3);
        assert_bad(later.mark("k1", 2, "r1"), &[2, 3, 4]);
    }

    #[test]
    fn a_store_in_memory_begins_anew_with_its_process() {
        let on = |build: Build, store: &str| build.claim("k1", 1).in_store(store);
        let two = on(on(Build::new(), "gateway-1/1"), "gateway-1/2");
        assert_eq!(verdict(two), Ruling::Kept, "two memories are two stores");
        assert_bad(on(on(Build::new(), "gateway-1/1"), "gateway-1/1"), &[0, 1]);
    }

    #[test]
    fn a_late_proof_of_an_older_claim_is_a_breach() {
        let reclaimed = || {
            let first = Build::new().claim("k1", 1).mark("k1", 1, "r1");
            first.release("k1", 1).claim("k1", 2)
        };
        assert_bad(reclaimed().done("k1", "r1"), &[1, 3, 4]);
        assert_bad(reclaimed().mark("k1", 2, "r2").done("k1", "r1"), &[1, 4, 5]);
        assert_eq!(verdict(reclaimed().mark("k1", 2, "r2").done("k1", "r2")), Ruling::Kept);
    }

    #[test]
    fn a_proof_of_a_reference_that_was_never_marked_is_a_breach() {
        let marked = Build::new().claim("k1", 1).mark("k1", 1, "r1");
        assert_bad(marked.done("k1", "r9"), &[1, 2]);
        let twice = Build::new().mark("k1", 1, "r1").mark("k1", 1, "r2");
        assert_bad(twice.done("k1", "r9"), &[1, 2]);
        let unmarked = Build::new().claim("k1", 1).done("k1", "r9");
        assert_eq!(verdict(unmarked), Ruling::Kept, "a log without marks");
    }

    #[test]
    fn once_a_re_ask_was_begun_its_lease_alone_releases() {
        let asked = || {
            let first = Build::new().claim("k1", 1).mark("k1", 1, "r1");
            first.unknown("k1", 1).begin_ask("k1", 2, "r1")
        };
        assert_bad(asked().release("k1", 1), &[0, 3, 4]);
        assert_eq!(verdict(applied(asked(), "release-asked", 2)), Ruling::Kept);
        for command in ["ask-later", "release-asked"] {
            let again = asked().begin_ask("k1", 3, "r1");
            assert_bad(applied(again, command, 2), &[3, 4, 5]);
        }
        assert_eq!(verdict(asked().done("k1", "r1")), Ruling::Kept);
    }
}
