//! What text B's receiving stages decide, and could decide otherwise.

/// Each is `false` where it is decided as the text does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decisions {
    /// An id is known for 30 days, not for one (W1).
    pub ids_for_a_month: bool,
    /// An id is marked when its send is queued, not before (W5).
    pub mark_after_queue: bool,
    /// A send that has failed for the last time is a dead letter (W8).
    pub failed_is_dead_letter: bool,
    /// A sender is answered within its patience, if only with 503, not when Redis has answered (W6).
    pub answers_in_time: bool,
}
