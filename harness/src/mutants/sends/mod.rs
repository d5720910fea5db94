//! Wrong decisions about sends.

mod bare_fields;
mod caller_leaves;
mod field_order;
mod file_left_out;
mod forgotten_commits;
mod get_then_set;
mod key_of_all_tenants;
mod late_mark;
mod no_headers;
mod no_token;
mod not_found_is_not_sent;
mod release_after_effect;
mod release_on_5xx;
mod reused_token;
mod unfenced;

pub use bare_fields::{FAIL_OPEN, NO_WAY_OUT, SHORT_TTL};
pub use caller_leaves::CallerLeaves;
pub use field_order::FieldOrder;
pub use file_left_out::FileLeftOut;
pub use forgotten_commits::ForgottenCommits;
pub use get_then_set::GetThenSet;
pub use key_of_all_tenants::KeyOfAllTenants;
pub use late_mark::LateMark;
pub use no_headers::NoHeaders;
pub use no_token::NoToken;
pub use not_found_is_not_sent::{ABILITIES as QUERYABLE, NotFoundIsNotSent};
pub use release_after_effect::ReleaseAfterEffect;
pub use release_on_5xx::ReleaseOn5xx;
pub use reused_token::ReusedToken;
pub use unfenced::Unfenced;
