//! A send: claim, mark, dispatch, settle (the protocol's section "A send").

mod answers;
mod attempt;
mod caller;
mod claim;
mod mark;
mod pause;
mod protocol;
mod repetition;
mod settle;
#[cfg(test)]
mod storm;
#[cfg(test)]
mod tests;
mod unprotected;
mod wakeups;

pub(crate) use answers::sent;
pub(crate) use protocol::{Protocol, SendRequest};
pub(crate) use wakeups::Wakeups;
