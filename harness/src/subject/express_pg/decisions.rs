//! What text C decides, in its code or in its prose, and could decide otherwise.

/// Each is `false` where it is decided as the text does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decisions {
    /// A reply goes through a gateway under a key of its event, not straight to the provider under none (W10).
    pub keyed_reply: bool,
    /// The reply is written into an outbox in the transaction, not sent in the middle of it (W10); of the code alone.
    pub outbox: bool,
    /// A known id is a duplicate, not an error (W9).
    pub violation_is_duplicate: bool,
    /// A processing key is deleted by the token of whoever set it, not by anybody (W9).
    pub owned_keys: bool,
    /// A retry whose key is taken stays in the queue, not dropped (W9).
    pub retry_waits: bool,
    /// A failed retry releases its key (W9).
    pub failed_retry_releases: bool,
    /// What is given up is a dead letter (W8).
    pub dead_letters: bool,
    /// A delivery whose key is taken is answered 503, not 200: nothing is known to be kept (W6).
    pub taken_is_no_ack: bool,
    /// A sender is answered within its patience, if only with 503, not when the stores have answered (W6).
    pub answers_in_time: bool,
}
