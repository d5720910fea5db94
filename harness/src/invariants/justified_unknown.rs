//! `justified-unknown`: a record becomes `unknown` only where something struck its dispatch.

use std::collections::BTreeMap;

use onceproof_gateway::store::State;

use crate::history::{Event, History};

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::waiver::Losses;

pub(super) const INVARIANT: Invariant = Invariant {
    name: "justified-unknown",
    kind: Kind::Safety,
    promise: "A record becomes unknown only where a fault, or an answer against the truth, struck between its claim and then.",
    rules: &["S6", "S10"],
    judge,
};

/// A record on its way.
#[derive(Default)]
struct Track<'a> {
    /// Where its claim was granted: its lease runs from there, so a fault that delays the mark counts.
    claimed: Option<usize>,
    marked: Option<usize>,
    reference: Option<&'a str>,
    state: Option<State>,
}

/// What can justify: until where it lasts, and for which reference (none for any).
struct Cause<'a> {
    fault: Option<u32>,
    until: usize,
    reference: Option<&'a str>,
}

fn judge(history: &History) -> Ruling {
    let losses = Losses::of(history);
    let mut findings = Findings::default();
    let mut tracks: BTreeMap<(&str, &str, &str), Track<'_>> = BTreeMap::new();
    let mut causes: Vec<Cause<'_>> = Vec::new();
    for (index, entry) in history.indexed() {
        observe_cause(index, &entry.event, &mut causes);
        let Event::Store { store, command, scope, key, reply, state, reference, .. } = &entry.event else {
            continue;
        };
        let track = tracks.entry((store, scope, key)).or_default();
        match (command.as_str(), reply.as_str()) {
            ("claim", "claimed") => *track = Track { claimed: Some(index), ..Track::default() },
            ("mark", "applied") => {
                track.marked = Some(index);
                track.reference = reference.as_deref();
            }
            _ => {}
        }
        let Some(state) = *state else { continue };
        if state == State::Unknown && track.state.replace(state) != Some(State::Unknown) {
            findings.relevant();
            if !causes.iter().any(|cause| justifies(cause, track)) {
                let why = format!("key {key:?} of {scope} became unknown, and nothing had struck it");
                let since = track.claimed.or(track.marked).unwrap_or(0);
                let waiver = losses.waives((scope, key), since, index);
                findings.breach(waiver, why, track.marked.or(track.claimed).into_iter().chain([index]));
            }
        }
        track.state = Some(state);
    }
    findings.ruling()
}

fn observe_cause<'a>(index: usize, event: &'a Event, causes: &mut Vec<Cause<'a>>) {
    match event {
        Event::Fault { fault, hosts, .. } if strikes_the_dispatch(hosts) => {
            causes.push(Cause { fault: Some(*fault), until: usize::MAX, reference: None })
        }
        Event::ProviderAnswer { scripted: true, reference, .. } | Event::ProviderStalls { reference, .. } => {
            causes.push(Cause { fault: None, until: index, reference: reference.as_deref() })
        }
        Event::FaultEnds { fault, .. } => end(causes, index, |cause| cause == *fault),
        Event::Healed => end(causes, index, |_| true),
        _ => {}
    }
}

fn end(causes: &mut [Cause<'_>], index: usize, which: impl Fn(u32) -> bool) {
    for cause in causes {
        if cause.until == usize::MAX && cause.fault.is_some_and(&which) {
            cause.until = index;
        }
    }
}

/// A fault between producer and gateway touches no dispatch, and both its hosts are named.
fn strikes_the_dispatch(hosts: &[String]) -> bool {
    let on_the_way = |host: &String| host.starts_with("gateway") || host == "database" || host == "whatsapp";
    hosts.iter().any(on_the_way) && hosts.iter().all(|host| !host.starts_with("producer"))
}

/// Whether the cause was there at any time since the record's claim, and concerns it.
fn justifies(cause: &Cause<'_>, track: &Track<'_>) -> bool {
    let since = track.claimed.or(track.marked).unwrap_or(0);
    let concerns = match (cause.reference, track.reference) {
        (Some(cause), Some(track)) => cause == track,
        _ => true,
    };
    cause.until >= since && concerns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::Build;

    fn dispatched() -> Build {
        let sent = Build::new().request("a", 1, "k1");
        sent.claim("k1", 1).mark("k1", 1, "r1")
    }

    fn verdict(build: Build) -> Ruling {
        judge(&build.unknown("k1", 1).history())
    }

    #[test]
    fn where_nothing_becomes_unknown_nothing_is_known() {
        let history = dispatched().done("k1", "r1").history();
        assert_eq!(judge(&history), Ruling::Inconclusive);
    }

    #[test]
    fn unknown_without_a_cause_is_a_breach() {
        let ruling = verdict(dispatched());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [2, 3]);
    }

    #[test]
    fn a_fault_on_the_way_of_the_dispatch_justifies() {
        for hosts in [
            &["gateway-1"][..],
            &["gateway-2", "database"],
            &["whatsapp"],
            &["database"],
            &["whatsapp", "gateway-1"],
        ] {
            assert_eq!(verdict(dispatched().fault(1, hosts)), Ruling::Kept, "{hosts:?}");
        }
    }

    #[test]
    fn a_fault_of_the_producer_does_not() {
        for hosts in
            [&["producer"][..], &["producer", "gateway-1"], &["gateway-1", "producer"], &["redis"], &[]]
        {
            assert!(verdict(dispatched().fault(1, hosts)).is_violated(), "{hosts:?}");
        }
    }

    #[test]
    fn a_fault_that_is_over_before_the_claim_does_not() {
        let before = |end: bool| {
            let fault = Build::new().fault(1, &["whatsapp"]).fault(2, &["whatsapp"]);
            let fault = fault.fault_ends(2);
            let fault = if end { fault.fault_ends(1) } else { fault };
            verdict(fault.claim("k1", 1).mark("k1", 1, "r1"))
        };
        assert!(before(true).is_violated());
        assert_eq!(before(false), Ruling::Kept, "it still lasts");
        let healed = Build::new().fault(1, &["whatsapp"]).healed();
        assert!(verdict(healed.claim("k1", 1).mark("k1", 1, "r1")).is_violated());
    }

    #[test]
    fn a_fault_that_held_the_mark_back_justifies() {
        let held = Build::new().claim("k1", 1).fault(1, &["gateway-1", "database"]);
        let marked = held.fault_ends(1).mark("k1", 1, "r1");
        assert_eq!(verdict(marked), Ruling::Kept);
    }

    #[test]
    fn a_wrong_clock_justifies_for_as_long_as_it_is_wrong() {
        let wrong = || Build::new().strikes(1, "clock", &["gateway-2"]);
        assert_eq!(verdict(wrong().claim("k1", 1).fault_ends(1).mark("k1", 1, "r1")), Ruling::Kept);
        let before = wrong().fault_ends(1).claim("k1", 1).mark("k1", 1, "r1");
        assert!(verdict(before).is_violated());
    }

    #[test]
    fn a_loss_of_commits_justifies_and_excuses_no_later_claim() {
        assert_eq!(verdict(dispatched().loses(1)), Ruling::Kept);
        let again = dispatched().loses(1).fault_ends(1).claim("k1", 1).mark("k1", 1, "r2");
        assert!(verdict(again).is_violated());
        // What is shown of the record from here on is older than what was shown before.
        let undone = dispatched().done("k1", "r1").loses(1).fault_ends(1);
        assert_eq!(verdict(undone), Ruling::Kept);
    }

    #[test]
    fn a_fault_that_comes_later_does_not() {
        let history = dispatched().unknown("k1", 1).fault(1, &["whatsapp"]);
        assert!(judge(&history.history()).is_violated());
    }

    #[test]
    fn a_scripted_answer_to_its_own_reference_justifies() {
        assert_eq!(verdict(dispatched().scripted("a", "r1", 500)), Ruling::Kept);
        assert!(verdict(dispatched().scripted("b", "r2", 500)).is_violated());
        let earlier = Build::new().scripted("a", "r1", 500).claim("k1", 1);
        assert!(verdict(earlier.mark("k1", 1, "r1")).is_violated());
    }

    #[test]
    fn a_provider_that_stalls_justifies_what_it_stalls() {
        assert_eq!(verdict(dispatched().stalls("a", "r1", 50_000)), Ruling::Kept);
        assert!(verdict(dispatched().stalls("b", "r2", 50_000)).is_violated());
    }

    #[test]
    fn a_look_at_an_unknown_record_needs_no_cause_of_its_own() {
        let struck = dispatched().fault(1, &["whatsapp"]).unknown("k1", 1).fault_ends(1);
        let seen = struck.store("read", "k1", None, None, "meets", Some(State::Unknown), None);
        assert_eq!(judge(&seen.history()), Ruling::Kept);
    }

    #[test]
    fn a_new_claim_needs_a_cause_of_its_own() {
        let first = dispatched().fault(1, &["whatsapp"]).unknown("k1", 1).fault_ends(1);
        let second = first.claim("k1", 2).mark("k1", 2, "r2").unknown("k1", 2);
        let ruling = judge(&second.history());
        assert!(ruling.is_violated());
        assert_eq!(ruling.evidence(), [7, 8]);
    }
}
