//! Who acts on what comes in.

/// The text before an answer, where a configuration says nothing else.
const RECEIVED: &str = "Recebemos: ";

/// Somebody who acts on the messages of an endpoint: with one job, one key and one dead letter of its own for each, so that
/// what becomes of one subscriber is nothing to the others (W7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscriber {
    /// Its name, which is a part of every id and key: a subscriber with another name is another, and acts again.
    pub name: String,
    /// Whom it writes to; without it, whoever wrote.
    pub to: Option<String>,
    /// What comes before the text that it passes on.
    pub lead: String,
}

impl Subscriber {
    /// The most of one endpoint. A batch of 1,000 updates has to fit into one transaction for all of them (W4).
    pub const MOST: usize = 5;

    /// The name that no subscriber has: the gateway's own, which acts on statuses and on nobody's message.
    pub const GATEWAY: &str = "gateway";

    /// Answers whoever wrote.
    #[must_use]
    pub fn reply() -> Self {
        Self { name: "reply".into(), to: None, lead: received() }
    }
}

/// What a payload that does not say it has.
pub(super) fn received() -> String {
    RECEIVED.into()
}

/// Whether a payload need not say it.
pub(super) fn is_received(lead: &str) -> bool {
    lead == RECEIVED
}
