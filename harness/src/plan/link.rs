//! Links between hosts, and the messages on them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Two hosts and a direction: `a -> b`, or `a <-> b` for both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// Whether the other direction is meant too.
    pub both: bool,
}

/// One message on a link: an HTTP head with its body, or one store frame. `a -> b #n`, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// Which message on that link and direction, over all connections, from 1.
    pub nth: u32,
}

/// Why a text is no [`Link`] or [`Message`]: what is wrong, then, on a line of its own, what was meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{wrong}\n{meant}")]
pub struct LinkError {
    wrong: String,
    meant: &'static str,
}

const LINK_HELP: &str = "write `producer -> gateway-1` for one direction, `producer <-> gateway-1` for both";
const MESSAGE_HELP: &str =
    "write the link, its direction and the number of the message, counted from 1: `gateway-1 -> database #2`";

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        let wrong = |wrong: String| LinkError { wrong, meant: LINK_HELP };
        if text.contains('#') {
            return Err(wrong(format!("`{text}` is one message, but a whole link is meant here")));
        }
        let (from, to, both) = match (text.split_once("<->"), text.split_once("->")) {
            (Some((from, to)), _) => (from, to, true),
            (None, Some((from, to))) => (from, to, false),
            (None, None) => return Err(wrong(format!("`{text}` has no arrow"))),
        };
        let (from, to) = (host(from), host(to));
        match (from, to) {
            (Some(from), Some(to)) => Ok(Self { from, to, both }),
            _ => Err(wrong(format!("`{text}` does not join two hosts"))),
        }
    }
}

impl Message {
    /// The number that stands for whatever a scenario varies: written `#*`.
    pub const ANY: u32 = 0;
}

impl FromStr for Message {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        let wrong = |wrong: String| LinkError { wrong, meant: MESSAGE_HELP };
        let (link, nth) =
            text.split_once('#').ok_or_else(|| wrong(format!("`{text}` does not say which message")))?;
        let nth = match nth.trim().parse() {
            _ if nth.trim() == "*" => Self::ANY,
            Ok(0) => return Err(wrong("messages are counted from 1".into())),
            Ok(nth) => nth,
            Err(_) => return Err(wrong(format!("`{}` is no number of a message", nth.trim()))),
        };
        let link: Link =
            link.parse().map_err(|error: LinkError| LinkError { meant: MESSAGE_HELP, ..error })?;
        if link.both {
            return Err(wrong(format!("`{text}` goes both ways, but a message goes one way")));
        }
        Ok(Self { from: link.from, to: link.to, nth })
    }
}

/// The name of a host, if the text can be one.
fn host(text: &str) -> Option<String> {
    let text = text.trim();
    let fits =
        !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "<>-#".contains(c) && c != '-');
    fits.then(|| text.to_owned())
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = if self.both { "<->" } else { "->" };
        write!(f, "{} {arrow} {}", self.from, self.to)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} #", self.from, self.to)?;
        match self.nth {
            Self::ANY => f.write_str("*"),
            nth => nth.fmt(f),
        }
    }
}

impl Serialize for Link {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
