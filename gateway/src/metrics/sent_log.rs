//! The messages that this process sent in the last five minutes, to see one that goes out twice (M2). Whoever hands two
//! keys to one message is seen here; an earlier life of this process, and other gateways, are not.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    message::{Made, Order, REFERENCE},
    provider::Outbound,
    store::Slot,
};

/// Same recipient and content within this is a duplicate (M2).
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// At most so many messages are remembered, the latest: about 4 MiB.
const MOST: usize = 32_768;

/// What went out, by a hash of recipient and content.
#[derive(Default)]
pub(super) struct SentLog {
    /// When last, and a hash of the provider's id.
    last: BTreeMap<u128, (Duration, u128)>,
    /// In the order of time; an entry that was renewed since is there again.
    order: VecDeque<(Duration, u128)>,
}

impl SentLog {
    /// Remembers a message, and tells whether it is another one than an earlier one of the same content. The same id again
    /// is the provider's replay.
    pub(super) fn is_duplicate(&mut self, content: u128, message_id: &str, now: Duration) -> bool {
        self.forget(now);
        let id = hash(&[message_id.as_bytes()]);
        self.order.push_back((now, content));
        self.last.insert(content, (now, id)).is_some_and(|(_, earlier)| earlier != id)
    }

    fn forget(&mut self, now: Duration) {
        while let Some((at, content)) = self.order.front().copied() {
            if now.saturating_sub(at) < WINDOW && self.order.len() < MOST {
                return;
            }
            self.order.pop_front();
            if self.last.get(&content).is_some_and(|(last, _)| *last <= at) {
                self.last.remove(&content);
            }
        }
    }
}

/// Sender, recipient and content of a message, whatever its reference; an instance has none. Of a file the bytes count,
/// not the provider's id of it.
pub(crate) fn content_of(order: &Order) -> Option<u128> {
    let file = order.attachment().map(|file| file.content.digest());
    match order.made {
        Made::Message => Some(hash_of(&order.outbound("", file))),
        Made::Instance => None,
    }
}

/// The same of a request as it was stored, in which a file has only its id.
pub(crate) fn content_of_stored(slot: &Slot, request: &Outbound) -> Option<u128> {
    if Made::in_scope(&slot.scope) == Made::Instance {
        return None;
    }
    let mut body: Value = serde_json::from_str(&request.body).ok()?;
    *body.get_mut(REFERENCE)? = Value::String(String::new());
    Some(hash_of(&Outbound { path: request.path.clone(), body: body.to_string() }))
}

fn hash_of(request: &Outbound) -> u128 {
    hash(&[request.path.as_bytes(), &[0], request.body.as_bytes()])
}

fn hash(parts: &[&[u8]]) -> u128 {
    let mut digest = Sha256::new();
    parts.iter().for_each(|part| digest.update(part));
    let bytes: [u8; 16] = digest.finalize()[..16].try_into().unwrap_or_default();
    u128::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_same_content_within_five_minutes_is_a_duplicate() {
        let mut log = SentLog::default();
        assert!(!log.is_duplicate(1, "m1", at(0)));
        assert!(!log.is_duplicate(1, "m1", at(1)), "the provider replays");
        assert!(!log.is_duplicate(2, "m2", at(2)), "other content");
        assert!(log.is_duplicate(1, "m3", at(3)));
        assert!(log.is_duplicate(1, "m4", at(302)), "five minutes since the last");
        assert!(!log.is_duplicate(1, "m5", at(602)));
        assert_eq!((log.last.len(), log.order.len()), (1, 1), "nothing older is kept");
    }

    #[test]
    fn its_size_is_bounded() {
        let mut log = SentLog::default();
        for content in 0..100_000 {
            assert!(!log.is_duplicate(content, "m", at(0)));
        }
        assert_eq!((log.last.len(), log.order.len()), (MOST, MOST));
        assert!(log.is_duplicate(99_999, "other", at(1)));
    }

    #[test]
    fn the_recipient_is_a_part_of_the_content_and_the_reference_is_not() {
        let order = |to: &str, text: &str| Order::message("4711", to, "text", json!({ "body": text }));
        let content = |to, text| content_of(&order(to, text));
        assert_eq!(content("5511999990001", "oi"), content("5511999990001", "oi"));
        assert_ne!(content("5511999990001", "oi"), content("5511999990002", "oi"));
        assert_ne!(content("5511999990001", "oi"), content("5511999990001", "ola"));
        let slot = |scope: &str| Slot { scope: scope.into(), key: "k".into() };
        let stored = order("5511999990001", "oi").outbound("reference", None);
        let content_of_stored = |scope| content_of_stored(&slot(scope), &stored);
        assert_eq!(content_of_stored("loja-1/messages/text"), content("5511999990001", "oi"));
        assert_eq!(content_of_stored(crate::message::INSTANCES_SCOPE), None);
    }
}
