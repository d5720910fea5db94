//! The gateway's HTTP side.

mod access;
mod admin;
mod api;
mod content;
mod form;
mod front;
mod idle;
mod latency;
mod paced;
mod problem;
mod route;
mod serve;
mod status;
#[cfg(test)]
mod tests;
mod watch;

pub use access::Instance;
pub use form::{CONCURRENT_FORMS, MAX_FORM};
pub use front::Front;
pub use problem::{PROBLEM_TYPE_PREFIX, REPLAY, UNPROTECTED};
pub use serve::{serve, serve_on, serve_until};

pub(crate) use access::Access;
pub(crate) use api::{Api, Site};
pub(crate) use content::whole;
pub(crate) use form::{FormFile, Forms};
pub(crate) use problem::Problem;
pub(crate) use serve::serve_site;
pub(crate) use status::respond;
