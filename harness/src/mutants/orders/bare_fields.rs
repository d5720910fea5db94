//! Wrong values of a producer's policy fields that need nothing else.

use crate::mutants::Mutation;

/// Fields of the policy, as TOML.
#[derive(Debug)]
pub struct Fields(&'static str);

impl Mutation for Fields {
    fn producer_fields(&self) -> &'static str {
        self.0
    }
}

/// The key is made in the loop.
pub const NEW_KEY_PER_RETRY: Fields = Fields("retry_key = \"new\"");

/// Two producers of one message never agree on a key.
pub const STAMPED_KEY: Fields = Fields("bucket = \"millisecond\"\nbucket_time = \"now\"");

/// A restart draws another key.
pub const UNWRITTEN_KEY: Fields = Fields("persisted = \"never\"");

/// The second order of a day is taken for the first.
pub const BUSINESS_KEY: Fields = Fields("subject = \"template\"");

/// A step whose answers were lost is a new operation.
pub const NEW_KEY_PER_STEP: Fields = Fields("failed_step = \"new-key\"");
