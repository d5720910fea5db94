//! The workers: events become effects, and effects become sends (W7, W8, W10).

mod backoff;
mod courier;
mod echo;
mod foreman;
mod handler;
mod shift;
#[cfg(test)]
mod tests;

pub(crate) use courier::Numbers;
pub(crate) use foreman::Foreman;
