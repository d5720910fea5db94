//! Webhooks, received: authenticate → parse → inbox and job in one transaction → COMMIT confirmed → hint → 200 (the
//! protocol's section "An event").

mod config;
mod envelope;
mod event;
mod handshake;
mod receiver;
mod routes;
mod signature;
mod subscriber;
#[cfg(test)]
mod tests;

pub use config::{Endpoint, Inbound, Scheme};
pub use subscriber::Subscriber;

pub(crate) use event::{Event, Message};
pub(crate) use receiver::Receiver;
pub(crate) use routes::routes;
