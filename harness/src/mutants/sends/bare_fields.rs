//! Wrong values of policy fields that need nothing else.

use crate::mutants::Mutation;

/// Fields of the policy, as TOML.
#[derive(Debug)]
pub struct Fields(&'static str);

impl Mutation for Fields {
    fn fields(&self) -> &'static str {
        self.0
    }
}

/// An answer is forgotten while its producer still retries, and nothing refuses after it.
pub const SHORT_TTL: Fields = Fields("ttl = \"30m\"\ntombstone = \"0s\"");

/// A store that is down is no reason not to send.
pub const FAIL_OPEN: Fields = Fields("store_down = \"send-unprotected\"");

/// Whoever dies with a key in hand keeps it for ever.
pub const NO_WAY_OUT: Fields = Fields("lease = \"36500d\"");
