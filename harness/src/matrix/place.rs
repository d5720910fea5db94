//! Where a run can be hurt: at each named point, and at each message.

use std::fmt;

use crate::plan::{Message, Trigger};

/// A place in a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A host reaches a named point for the n-th time.
    Point {
        /// The host.
        host: String,
        /// The point.
        point: String,
        /// Which time, from 1.
        nth: u32,
    },
    /// A message is about to leave.
    Message(Message),
}

impl Place {
    /// What a fault waits for that strikes here.
    #[must_use]
    pub fn trigger(&self) -> Trigger {
        match self {
            Self::Point { host, point, nth } => Trigger {
                point: Some(point.clone()),
                host: Some(host.clone()),
                nth: Some(*nth),
                ..Trigger::default()
            },
            Self::Message(message) => Trigger { message: Some(message.clone()), ..Trigger::default() },
        }
    }

    /// The gateway that is at work here, if one is.
    #[must_use]
    pub fn gateway(&self) -> Option<&str> {
        let hosts = match self {
            Self::Point { host, .. } => [host, host],
            Self::Message(message) => [&message.from, &message.to],
        };
        hosts.into_iter().map(String::as_str).find(|host| host.starts_with("gateway-"))
    }

    /// The place without its number: what a row of a grid is called.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Self::Point { host, point, .. } if host.starts_with("gateway-") => point.clone(),
            Self::Point { host, point, .. } => format!("{host}: {point}"),
            Self::Message(message) => format!("{} -> {}", anonymous(&message.from), anonymous(&message.to)),
        }
    }
}

/// Gateways are alike.
fn anonymous(host: &str) -> &str {
    if host.starts_with("gateway-") { "gateway" } else { host }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point { host, point, nth } => write!(f, "{host}@{point}#{nth}"),
            Self::Message(Message { from, to, nth }) => write!(f, "{from}>{to}#{nth}"),
        }
    }
}
