//! The gateway's HTTP side.

mod admin;
mod api;
mod idle;
mod problem;
mod serve;
mod status;
#[cfg(test)]
mod tests;

pub use api::Instance;
pub use problem::{PROBLEM_TYPE_PREFIX, REPLAY, UNPROTECTED};
pub use serve::{serve, serve_on};

pub(crate) use api::{Api, router};
pub(crate) use problem::Problem;
