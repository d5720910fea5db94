//! What text A decides, and could decide otherwise.

/// Each is `false` where it is decided as the text does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decisions {
    /// An id is known for 30 days, not for one (W1).
    pub ids_for_a_month: bool,
    /// Every change of every entry is looked at, not the first alone (W4).
    pub every_item: bool,
    /// An id is marked when its message is queued, not before (W5).
    pub mark_after_queue: bool,
    /// A reply goes through a gateway under a key of its message, not straight to the provider under none (W10).
    pub keyed_reply: bool,
    /// A job that has failed is a dead letter by that alone; no second step has to write one (W8).
    pub failed_is_dead_letter: bool,
    /// A sender is answered within its patience, if only with 503, not when Redis has answered (W6).
    pub answers_in_time: bool,
}
