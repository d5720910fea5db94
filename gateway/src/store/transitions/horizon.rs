//! Where a record stands at a time, expiry and leases taken into account.

use crate::store::{State, rows::Found};

/// By which times a record is judged.
#[derive(Clone, Copy)]
pub(super) struct Horizon {
    pub(super) now_ms: i64,
    pub(super) skew_ms: i64,
    pub(super) tombstone_ms: i64,
    /// When a record that becomes `unknown` now is to be asked about.
    pub(super) ask_ms: Option<i64>,
}

impl Horizon {
    pub(super) fn new(now_ms: i64, skew_ms: i64, tombstone_ms: i64, askable: bool) -> Self {
        Self { now_ms, skew_ms, tombstone_ms, ask_ms: askable.then_some(now_ms) }
    }

    pub(super) fn is_lease_out(self, found: &Found) -> bool {
        found.lease_end_ms.saturating_add(self.skew_ms) <= self.now_ms
    }

    /// Where a record stands now; `None` where it counts as gone although its row is still there (S5).
    pub(super) fn standing(self, found: &Found) -> Option<State> {
        let expires_ms = found.expires_ms.unwrap_or(i64::MAX);
        let forgotten_ms = match was_sent(found) {
            true => expires_ms.saturating_add(self.tombstone_ms),
            // A tombstone says that the message was sent, which this answer did not.
            false => expires_ms,
        };
        match found.view.state {
            State::Claimed if self.is_lease_out(found) => None,
            State::Dispatching if self.is_lease_out(found) => Some(State::Unknown),
            State::Done | State::Tombstone if forgotten_ms <= self.now_ms => None,
            State::Done if expires_ms <= self.now_ms => Some(State::Tombstone),
            state => Some(state),
        }
    }
}

/// Whether a definite answer, or what is left of it, says that the message was sent. An operator may have said so
/// without knowing the provider's id, which therefore decides nothing here.
fn was_sent(found: &Found) -> bool {
    let status = found.view.answer.as_ref().map(|answer| answer.status);
    found.view.state == State::Tombstone || status.is_some_and(|status| (200..300).contains(&status))
}
