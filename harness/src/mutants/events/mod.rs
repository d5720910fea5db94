//! Wrong decisions about events.

mod ack_first;
mod dropped_retries;
mod early_mark;
mod first_item;
mod inline;
mod lock_as_record;
mod re_encoded;
mod redrive_anew;
mod signature_as_id;
mod status_backwards;
mod without_constraint;

pub use ack_first::AckFirst;
pub use dropped_retries::DroppedRetries;
pub use early_mark::EarlyMark;
pub use first_item::FirstItem;
pub use inline::Inline;
pub use lock_as_record::LockAsRecord;
pub use re_encoded::ReEncoded;
pub use redrive_anew::RedriveAnew;
pub use signature_as_id::SignatureAsId;
pub use status_backwards::StatusBackwards;
pub use without_constraint::WithoutConstraint;
