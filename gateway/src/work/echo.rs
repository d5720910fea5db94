//! A status that bears our reference proves its send (W11): it settles `dispatching` and `unknown` alike.

use std::time::Duration;

use super::foreman::Foreman;
use crate::{
    send::{report_orphan, sent},
    store::{Reply, Sought, StoreError, Whose},
};

/// How long an echo waits for a record that bears its reference. A reference leaves with its mark durable, so that only a
/// store that lags behind, or a send that no record protects, has none.
pub(super) const KEPT: Duration = Duration::from_secs(5 * 60);

/// Settles the record of this reference; tells whether there is one. Two steps, each of which changes nothing the second
/// time.
pub(super) async fn settle(gateway: &Foreman, reference: &str, message_id: &str) -> Result<bool, StoreError> {
    let ledger = &gateway.ledger;
    let sought = Sought::Message { id: reference.to_owned() };
    let slot = match ledger.find(sought, Whose::Anybodys).await? {
        // Not by a provider's id that happens to be the same.
        Reply::Found { slot, view, .. } if view.reference.as_deref() == Some(reference) => slot,
        _ => return Ok(false),
    };
    let answer = sent(&slot, message_id);
    let reply = ledger.done(&slot, reference, &answer).await?;
    report_orphan(&reply, reference, &answer);
    gateway.protocol.wakeups.settled(&slot);
    Ok(true)
}
