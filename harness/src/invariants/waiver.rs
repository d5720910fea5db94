//! When a promise does not bind: predicates over what happened, never switches.

use std::collections::BTreeMap;

use crate::history::{Event, History};

use super::view::{self, Slot};

/// An effect, or another answer, after the published horizon: TTL and tombstone from the durable definite answer (S5).
pub const PAST_HORIZON: &str = "past-horizon";
/// A request that carried no key: it is unprotected (S3).
pub const NO_KEY: &str = "no-key";
/// The store forgot commits that it had confirmed: a declared loss of its durability (S10).
pub const LOST_COMMITS: &str = "lost-commits";

/// When each key got its durable definite answer, and how long that binds.
pub(super) struct Horizon<'a> {
    history: &'a History,
    span_ms: u64,
    /// By key: where it was settled, each time anew.
    settled: BTreeMap<Slot<'a>, Vec<usize>>,
}

impl<'a> Horizon<'a> {
    /// Where the store is shown, a key is settled by a `done` that was applied; else by the first success
    /// that a producer received.
    pub(super) fn of(history: &'a History) -> Self {
        let promise = &history.header.promise;
        let mut settled = settled_by_received(history);
        settled.append(&mut settled_by_store(history)); // replaces, key by key
        Self { history, span_ms: promise.ttl_ms.saturating_add(promise.tombstone_ms), settled }
    }

    /// The last time that this key was settled before this place.
    pub(super) fn settled(&self, slot: Slot<'a>, before: usize) -> Option<usize> {
        let places = self.settled.get(&slot)?;
        places.iter().rev().find(|at| **at < before).copied()
    }

    /// How long the entry at `place` comes after the one at `settled`.
    pub(super) fn age_ms(&self, settled: usize, place: usize) -> u64 {
        let at = |place: usize| self.history.entries.get(place).map_or(0, |e| e.at_ms);
        at(place).saturating_sub(at(settled))
    }

    /// The waiver, if what was settled at `settled` binds no more at `place`.
    pub(super) fn waives(&self, settled: Option<usize>, place: usize) -> Option<&'static str> {
        let passed = |settled| self.age_ms(settled, place) > self.span_ms;
        settled.is_some_and(passed).then_some(PAST_HORIZON)
    }
}

/// The same reference may be recorded again by a late proof, which settles nothing anew.
fn settled_by_store(history: &History) -> BTreeMap<Slot<'_>, Vec<usize>> {
    let mut settled: BTreeMap<Slot<'_>, Vec<usize>> = BTreeMap::new();
    let mut last = BTreeMap::new();
    for (index, entry) in history.indexed() {
        if let Event::Store { command, scope, key, reply, reference, .. } = &entry.event
            && (command.as_str(), reply.as_str()) == ("done", "applied")
            && last.insert((scope, key), reference) != Some(reference)
        {
            settled.entry((scope, key)).or_default().push(index);
        }
    }
    settled
}

/// A replay, and an answer with the same message id, settle nothing anew.
fn settled_by_received(history: &History) -> BTreeMap<Slot<'_>, Vec<usize>> {
    let mut settled: BTreeMap<Slot<'_>, Vec<usize>> = BTreeMap::new();
    let mut last = BTreeMap::new();
    for answer in view::answers(history) {
        let Some(slot) = answer.slot().filter(|_| answer.is_success()) else {
            continue;
        };
        if last.insert(slot, answer.message_id) != Some(answer.message_id) {
            settled.entry(slot).or_default().push(answer.index);
        }
    }
    settled
}

/// Where stores lost commits, and where each key was written before.
#[derive(Default)]
pub(super) struct Losses<'a> {
    /// The places, and the hosts that each struck.
    places: Vec<(usize, &'a [String])>,
    /// What stores wrote, by key.
    written: BTreeMap<Slot<'a>, Vec<Write<'a>>>,
    /// What was asked for, by key, for a history that does not show the store.
    asked: BTreeMap<Slot<'a>, Vec<Write<'a>>>,
}

struct Write<'a> {
    index: usize,
    /// None where it is not known which store it was.
    store: Option<&'a str>,
    is_claim: bool,
}

impl<'a> Losses<'a> {
    pub(super) fn of(history: &'a History) -> Self {
        let mut losses = Self::default();
        for (index, entry) in history.indexed() {
            if let Event::Fault { kind, hosts, .. } = &entry.event
                && kind == "lose_commits"
            {
                losses.places.push((index, hosts));
            }
        }
        if !losses.places.is_empty() {
            history.indexed().for_each(|(index, entry)| losses.observe(index, &entry.event));
        }
        losses
    }

    fn observe(&mut self, index: usize, event: &'a Event) {
        match event {
            Event::Store { store, command, scope, key, granted, reply, .. }
                if granted.is_some()
                    || !matches!(reply.as_str(), "fenced" | "meets" | "absent" | "mismatch") =>
            {
                let is_claim = command == "claim";
                let write = Write { index, store: Some(store), is_claim };
                self.written.entry((scope, key)).or_default().push(write);
            }
            Event::Request { scope, key: Some(key), .. } => {
                let write = Write { index, store: None, is_claim: false };
                self.asked.entry((scope, key)).or_default().push(write);
            }
            _ => {}
        }
    }

    /// The waiver, if what this key's claim of `since` wrote may have been lost before `place`. How many commits
    /// were lost is not known: every one before the loss may be among them.
    pub(super) fn waives(&self, slot: Slot<'a>, since: usize, place: usize) -> Option<&'static str> {
        let writes = self.written.get(&slot).or_else(|| self.asked.get(&slot))?;
        let claim = writes.iter().rfind(|write| write.is_claim && write.index <= since);
        let begin = claim.map_or(0, |claim| claim.index);
        let is_lost = |(at, hosts): &(usize, &[String])| {
            *at < place && writes.iter().any(|w| (begin..*at).contains(&w.index) && struck(hosts, w.store))
        };
        self.places.iter().any(is_lost).then_some(LOST_COMMITS)
    }

    /// The waiver, if this store lost commits between two places.
    pub(super) fn waives_between(&self, store: &str, earlier: usize, later: usize) -> Option<&'static str> {
        let is_between =
            |(at, hosts): &(usize, &[String])| (earlier..later).contains(at) && struck(hosts, Some(store));
        self.places.iter().any(is_between).then_some(LOST_COMMITS)
    }
}

/// Whether a loss on these hosts struck this store.
fn struck(hosts: &[String], store: Option<&str>) -> bool {
    store.is_none_or(|store| hosts.iter().any(|host| host == store))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::{Build, DAY, SCOPE};

    #[test]
    fn what_was_written_before_a_loss_may_be_lost_and_what_comes_after_is_not() {
        let history = Build::new()
            .request("a", 1, "k1")
            .claim("k1", 1)
            .mark("k1", 1, "r1")
            .loses(1)
            .claim("k2", 1)
            .claim("k1", 1)
            .done("k1", "r1")
            .history();
        let losses = Losses::of(&history);
        assert_eq!(losses.waives(K, 2, 6), Some(LOST_COMMITS));
        assert_eq!(losses.waives(K, 2, 3), None, "not before it");
        assert_eq!(losses.waives(K, 6, 7), None, "that claim came after it");
        assert_eq!(losses.waives((SCOPE, "k2"), 0, 7), None, "nothing of that key was written before it");
        assert_eq!(losses.waives_between("database", 1, 5), Some(LOST_COMMITS));
        assert_eq!(losses.waives_between("database", 4, 5), None);
    }

    #[test]
    fn a_loss_strikes_its_own_store_alone() {
        let history = Build::new().claim("k1", 1).in_store("gateway-1/1").loses(1).history();
        let losses = Losses::of(&history);
        assert_eq!(losses.waives(K, 0, 2), None);
        assert_eq!(losses.waives_between("gateway-1/1", 0, 2), None);
    }

    #[test]
    fn what_is_only_read_or_refused_cannot_be_lost() {
        let seen =
            |reply| Build::new().store("claim", "k1", None, None, reply, None, None).loses(1).history();
        for reply in ["meets", "mismatch", "fenced", "absent"] {
            assert_eq!(Losses::of(&seen(reply)).waives(K, 0, 2), None, "{reply}");
        }
    }

    #[test]
    fn where_no_store_is_shown_every_request_may_have_been_written() {
        let history = Build::new().request("a", 1, "k1").loses(1).request("b", 2, "k2").history();
        let losses = Losses::of(&history);
        assert_eq!(losses.waives(K, 0, 3), Some(LOST_COMMITS));
        assert_eq!(losses.waives((SCOPE, "k2"), 2, 3), None);
    }

    const K: Slot<'static> = (SCOPE, "k1");

    #[test]
    fn the_horizon_runs_from_the_durable_answer() {
        let history = Build::new()
            .request("a", 1, "k1")
            .at(1_000)
            .done("k1", "r1")
            .at(5_000)
            .ok(1, "m1")
            .at(1_000 + 31 * DAY)
            .effect("a", "m2")
            .at(1_001 + 31 * DAY)
            .effect("a", "m3")
            .history();
        let horizon = Horizon::of(&history);
        assert_eq!(horizon.settled(K, 4), Some(1));
        assert_eq!(horizon.waives(Some(1), 3), None, "at it, it still binds");
        assert_eq!(horizon.waives(Some(1), 4), Some(PAST_HORIZON));
        assert_eq!(horizon.waives(None, 4), None, "never settled");
    }

    #[test]
    fn without_a_store_it_runs_from_the_first_success_received() {
        let history = Build::new()
            .request("a", 1, "k1")
            .ok(1, "m1")
            .at(DAY)
            .request("a", 2, "k1")
            .replay(2, "m1")
            .at(32 * DAY)
            .request("a", 3, "k1")
            .ok(3, "m2")
            .history();
        let horizon = Horizon::of(&history);
        assert_eq!(horizon.settled(K, 5), Some(1), "a replay settles nothing");
        assert_eq!(horizon.settled(K, 6), Some(5));
        assert_eq!(horizon.settled((SCOPE, "other"), 6), None);
    }

    #[test]
    fn a_second_proof_of_the_same_reference_settles_nothing_anew() {
        let history =
            Build::new().done("k1", "r1").at(DAY).done("k1", "r1").at(2 * DAY).done("k1", "r2").history();
        let horizon = Horizon::of(&history);
        assert_eq!(horizon.settled(K, 2), Some(0));
        assert_eq!(horizon.settled(K, 3), Some(2));
    }
}
