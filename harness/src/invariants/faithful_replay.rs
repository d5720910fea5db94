//! `faithful-replay`: once a success was received, its key says the same for as long as it is promised.

use std::collections::BTreeMap;

use crate::history::History;

use super::findings::Findings;
use super::invariant::{Invariant, Kind, Ruling};
use super::view::{self, Answer, SKEW_MS, Slot};
use super::waiver::{Horizon, Losses};

pub(super) const INVARIANT: Invariant = Invariant {
    name: "faithful-replay",
    kind: Kind::Safety,
    promise: "After a success was received, a later repetition gets the same answer, marked as a replay, \
              or no statement about the outcome; unknown may become definite, never the other way.",
    rules: &["S2", "S5", "S6"],
    judge,
};

fn judge(history: &History) -> Ruling {
    let (horizon, losses) = (Horizon::of(history), Losses::of(history));
    let wrong_clock = view::first_wrong_clock(history).unwrap_or(usize::MAX);
    let mut findings = Findings::default();
    let mut first: BTreeMap<Slot<'_>, Answer<'_>> = BTreeMap::new();
    for answer in view::answers(history) {
        replay_is_definite(&answer, &mut findings);
        let Some(slot) = answer.slot() else { continue };
        let Some(success) = first.get(&slot) else {
            if answer.is_success() {
                first.insert(slot, answer);
            }
            continue;
        };
        if !repeats(&answer, success) {
            continue;
        }
        findings.relevant();
        // What a producer was told was settled at the latest when it heard of it.
        let settled = horizon.settled(slot, success.index + 1);
        let age_ms = settled.map_or(0, |settled| horizon.age_ms(settled, answer.index));
        // A clock may be off by the allowance; by how much more a wrong one is, is not known.
        let is_clock_wrong = wrong_clock < answer.index;
        let expired = is_clock_wrong || age_ms + SKEW_MS > history.header.promise.ttl_ms;
        let Some(wrong) = unfaithful(&answer, success, expired) else {
            continue;
        };
        let lost = || losses.waives(slot, success.index, answer.index);
        let waiver = horizon.waives(settled, answer.index).or_else(lost);
        let why = format!(
            "key {:?} of {} had succeeded with {}; a later repetition {wrong}",
            slot.1, slot.0, success.status
        );
        findings.breach(waiver, why, [success.index, answer.asked_at(), answer.index]);
        if waiver.is_some() && answer.is_success() {
            first.insert(slot, answer);
        }
    }
    findings.ruling()
}

/// Whether the answer is to a request of the same content that was sent after the success was received.
/// Other content is the business of `mismatch`.
fn repeats(answer: &Answer<'_>, success: &Answer<'_>) -> bool {
    let same_content = match (answer.call, success.call) {
        (Some(asked), Some(told)) => asked.content == told.content,
        _ => false,
    };
    same_content && answer.asked_at() > success.index
}

/// What is wrong with a repetition's answer, if anything.
fn unfaithful(answer: &Answer<'_>, success: &Answer<'_>, expired: bool) -> Option<String> {
    let other_message = answer.message_id.is_some() && answer.message_id != success.message_id;
    match answer.status {
        409 | 503 => None,
        _ if answer.precedes_look_up() => None,
        _ if other_message => Some(format!(
            "names another message: {:?} instead of {:?}",
            answer.message_id.unwrap_or_default(),
            success.message_id.unwrap_or_default()
        )),
        410 if expired => None,
        410 => Some("got 410 before the answer's time to live was over".to_owned()),
        _ if !answer.is_success() => Some(format!("got {}", answer.status)),
        _ if answer.digest != success.digest => Some("got another answer".to_owned()),
        _ if !answer.replay => Some("got the answer without the replay mark".to_owned()),
        _ => None,
    }
}

/// Only a definite replay bears the mark (S2).
fn replay_is_definite(answer: &Answer<'_>, findings: &mut Findings) {
    if !answer.replay {
        return;
    }
    findings.relevant();
    if !view::is_definite(answer.status) {
        let why = format!(
            "call to {:?} got {} marked as a replay, though {} is not definite",
            answer.op, answer.status, answer.status
        );
        findings.violate(why, [answer.index]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiver::{LOST_COMMITS, PAST_HORIZON};
    use super::*;
    use crate::history::build::{Build, DAY};

    /// A success at 0, settled by the store, and a repetition that was sent at `ms`.
    fn repeated_at(ms: u64) -> Build {
        Build::new()
            .request("a", 1, "k1")
            .effect("a", "m1")
            .done("k1", "r1")
            .ok(1, "m1")
            .at(ms)
            .request("a", 2, "k1")
    }

    fn assert_bad(history: &History, part: &str) {
        let ruling = judge(history);
        assert!(ruling.is_violated(), "{ruling:?}");
        assert!(ruling.why().contains(part), "{}", ruling.why());
        assert_eq!(ruling.evidence(), [3, 4, 5]);
    }

    #[test]
    fn the_same_answer_marked_as_a_replay_is_kept() {
        let same = repeated_at(1).replay(2, "m1").history();
        assert_eq!(judge(&same), Ruling::Kept);
    }

    #[test]
    fn without_a_repetition_nothing_is_known() {
        let alone = repeated_at(1).history();
        assert_eq!(judge(&alone), Ruling::Inconclusive);
    }

    #[test]
    fn an_answer_that_says_nothing_of_the_outcome_is_kept() {
        assert_eq!(judge(&repeated_at(1).status(2, 409).history()), Ruling::Kept);
        assert_eq!(judge(&repeated_at(1).status(2, 503).history()), Ruling::Kept);
    }

    #[test]
    fn a_success_is_not_taken_back() {
        for status in [504, 500, 502, 400, 422, 429] {
            let history = repeated_at(1).status(2, status).history();
            assert_bad(&history, &format!("got {status}"));
        }
    }

    #[test]
    fn what_is_said_before_the_look_up_says_nothing_of_the_outcome() {
        for status in [401, 403, 404, 408, 413] {
            assert_eq!(judge(&repeated_at(1).status(2, status).history()), Ruling::Kept, "{status}");
        }
        let refused_by_provider = repeated_at(1).problem(2, 404, "message-refused");
        assert_bad(&refused_by_provider.history(), "got 404");
    }

    #[test]
    fn a_stricter_release_must_not_turn_a_replay_into_a_400() {
        assert_bad(&repeated_at(1).problem(2, 400, "invalid-message").history(), "got 400");
        let misspelled = repeated_at(1).problem(2, 400, "bad-key").history();
        assert_eq!(judge(&misspelled), Ruling::Kept, "its key is no key");
    }

    #[test]
    fn after_lost_commits_another_answer_is_waived_and_binds_anew() {
        let lost = || repeated_at(1).loses(1).claim("k1", 2).ok(2, "m2");
        let ruling = judge(&lost().history());
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == LOST_COMMITS), "{ruling:?}");
        assert!(judge(&lost().request("a", 3, "k1").ok(3, "m3").history()).is_violated());
    }

    #[test]
    fn another_answer_is_not_faithful() {
        assert_bad(&repeated_at(1).ok(2, "m2").history(), "another message");
        assert_bad(&repeated_at(1).replay(2, "m2").history(), "another message");
        let created = repeated_at(1).response(2, 201, true, Some("m1")).history();
        assert_bad(&created, "another answer");
        assert_bad(&repeated_at(1).ok(2, "m1").history(), "replay mark");
    }

    #[test]
    fn gone_is_for_after_the_time_to_live() {
        let early = repeated_at(DAY - 5_000).response(2, 410, false, Some("m1"));
        assert_bad(&early.history(), "410 before");
        let skewed = repeated_at(DAY - 4_999).response(2, 410, false, Some("m1"));
        assert_eq!(judge(&skewed.history()), Ruling::Kept, "clocks may differ by five seconds");
        let wrong = repeated_at(DAY - 60_000).strikes(1, "clock", &["gateway-1"]);
        assert_eq!(judge(&wrong.response(2, 410, false, Some("m1")).history()), Ruling::Kept);
        let late = repeated_at(DAY + 1).response(2, 410, false, Some("m1"));
        assert_eq!(judge(&late.history()), Ruling::Kept);
        let other = repeated_at(DAY + 1).response(2, 410, false, Some("m2"));
        assert_bad(&other.history(), "another message");
    }

    #[test]
    fn past_the_horizon_another_answer_is_waived_and_binds_anew() {
        let late = || repeated_at(32 * DAY).done("k1", "r2").ok(2, "m2");
        let ruling = judge(&late().history());
        assert!(matches!(ruling, Ruling::Waived { waiver, .. } if waiver == PAST_HORIZON), "{ruling:?}");
        assert_eq!(ruling.evidence(), [3, 4, 6]);
        let again = late().request("a", 3, "k1").ok(3, "m3").history();
        assert!(judge(&again).is_violated());
        assert_eq!(judge(&again).evidence(), [6, 7, 8]);
    }

    #[test]
    fn what_was_first_told_stays_the_measure() {
        let once_wrong = repeated_at(1).ok(2, "m2").request("a", 3, "k1");
        let ruling = judge(&once_wrong.replay(3, "m1").history());
        assert!(ruling.is_violated() && !ruling.why().contains("more"));
        let lost_late = repeated_at(32 * DAY).status(2, 504).request("a", 3, "k1");
        let ruling = judge(&lost_late.status(3, 504).history());
        assert_eq!(ruling.evidence(), [3, 4, 5]);
        assert!(ruling.why().contains("got 504 (and 1 more)"), "{ruling:?}");
    }

    #[test]
    fn a_request_that_was_sent_before_the_success_is_not_bound() {
        let history =
            Build::new().request("a", 1, "k1").request("a", 2, "k1").ok(1, "m1").status(2, 504).history();
        assert_eq!(judge(&history), Ruling::Inconclusive);
    }

    #[test]
    fn unknown_may_become_definite() {
        let history =
            Build::new().request("a", 1, "k1").status(1, 504).request("a", 2, "k1").replay(2, "m1").history();
        assert_eq!(judge(&history), Ruling::Kept);
    }

    #[test]
    fn other_keys_and_other_content_are_not_bound() {
        let other_key = repeated_at(1).request("b", 3, "k2").status(3, 504);
        assert_eq!(judge(&other_key.history()), Ruling::Inconclusive);
        let other_content = repeated_at(1).request("b", 3, "k1").status(3, 422);
        assert_eq!(judge(&other_content.history()), Ruling::Inconclusive);
    }

    #[test]
    fn the_mark_is_for_definite_answers() {
        for status in [504, 409, 500] {
            let history = Build::new().request("a", 1, "k1").response(1, status, true, None).history();
            let ruling = judge(&history);
            assert!(ruling.is_violated(), "{status}");
            assert_eq!(ruling.evidence(), [1]);
        }
    }
}
