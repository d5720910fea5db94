//! The places where dying matters that no other system has.

/// The event is inserted, its transaction open; nothing else is done.
pub const AFTER_INSERT: &str = "after-insert";
/// An attempt has failed, and the processing key is deleted; its retry is not queued.
pub const AFTER_RELEASE: &str = "after-release";
/// A retry has failed, and is no longer queued; the next one is not, either.
pub const AFTER_ZREM: &str = "after-zrem";

/// All of them.
pub const POINTS: &[&str] = &[AFTER_INSERT, AFTER_RELEASE, AFTER_ZREM];
