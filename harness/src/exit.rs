//! Exit codes: what a CI pipeline reads.

/// Everything is as expected.
pub const AS_EXPECTED: u8 = 0;
/// Safety was violated (also when liveness was violated too).
pub const SAFETY: u8 = 1;
/// Liveness was violated.
pub const LIVENESS: u8 = 2;
/// The same seed gave different bytes.
pub const NOT_DETERMINISTIC: u8 = 3;
/// Nothing ran, or what ran showed nothing.
pub const INCONCLUSIVE: u8 = 4;
/// What was expected, such as a failure, did not come, and no promise is broken.
pub const EXPECTED_FAILURE_MISSING: u8 = 5;
/// The input is bad.
pub const BAD_INPUT: u8 = 64;
/// Our own fault.
pub const OUR_FAULT: u8 = 70;
