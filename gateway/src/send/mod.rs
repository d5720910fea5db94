//! A send: claim, mark, dispatch, settle (the protocol's section "A send").

mod answers;
mod attempt;
mod caller;
mod claim;
mod hand_over;
mod mark;
mod orphan;
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

pub(crate) use answers::{sent, sent_by_word};
pub(crate) use orphan::report_orphan;
pub(crate) use protocol::{Protocol, SendRequest};
pub(crate) use wakeups::Wakeups;
