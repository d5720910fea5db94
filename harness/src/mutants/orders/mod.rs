//! Wrong decisions of producers.

mod bare_fields;

pub use bare_fields::{BUSINESS_KEY, NEW_KEY_PER_RETRY, NEW_KEY_PER_STEP, STAMPED_KEY, UNWRITTEN_KEY};
