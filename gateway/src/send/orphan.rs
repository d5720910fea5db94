//! Proof of an effect that no record bears: what must never happen, and is said aloud if it does.

use crate::store::{Reply, StoredAnswer};

/// Reports a proof of success that found no record of its own, such as one that an operator's "not sent" has freed, or
/// one that names another message than the record does. Whoever reads this has a duplicate, or nearly one. Neither the
/// content nor any token is told.
pub(crate) fn report_orphan(reply: &Reply, reference: &str, answer: &StoredAnswer) {
    let Some(why) = orphaned(reply, reference, answer) else {
        return;
    };
    let message_id = answer.message_id.as_deref().unwrap_or_default();
    tracing::error!(reference, message_id, why, "an effect without a record");
}

fn orphaned(reply: &Reply, reference: &str, answer: &StoredAnswer) -> Option<&'static str> {
    let Reply::Fenced { view } = reply else {
        return None;
    };
    // An ambiguous outcome that is stored as an error proves nothing.
    answer.message_id.as_ref()?;
    match view {
        Some(view) if view.reference.as_deref() != Some(reference) => Some("its key is another claim's"),
        // An operator who said "sent" did not know the id.
        Some(view) if view.message_id.is_none() => None,
        Some(_) => Some("its record names another message"),
        None => Some("its record is gone"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        message::Made,
        send::answers::made,
        store::{State, View},
    };

    fn fenced(reference: &str, message_id: Option<&str>) -> Reply {
        let view = View {
            state: State::Done,
            claim_id: "c".into(),
            token: 1,
            reference: Some(reference.into()),
            answer: None,
            message_id: message_id.map(str::to_owned),
        };
        Reply::Fenced { view: Some(view) }
    }

    #[test]
    fn only_a_proof_without_a_record_is_an_alarm() {
        let is_alarm = |reply: &Reply| orphaned(reply, "r", &made(Made::Message, "m1")).is_some();
        assert!(is_alarm(&Reply::Fenced { view: None }), "an operator's not-sent");
        assert!(is_alarm(&fenced("other", Some("m1"))));
        assert!(is_alarm(&fenced("r", Some("m2"))), "the provider acted twice");
        assert!(!is_alarm(&Reply::Applied));
        assert!(!is_alarm(&fenced("r", None)), "an operator's sent");
        let error = StoredAnswer { message_id: None, ..made(Made::Message, "m1") };
        assert_eq!(orphaned(&Reply::Fenced { view: None }, "r", &error), None);
    }
}
