//! The decisions of each profile.

use onceproof_gateway::policy::{Departure, Policy, PolicyError};

use super::decision::{Decision, Take};
use crate::{
    plan::{EXPRESS_PG, EXPRESS_PG_PROSE, META_REDIS, ZAP},
    subject::Structures,
};

/// The decision that replaces everything.
pub const RECEIVER_OF_STRICT: &str = "receiver-of-strict";

/// What the text decides, what `strict` does, and how that is taken.
type Row = (&'static str, &'static str, &'static str, fn(&mut Structures));

const OF_META_REDIS: &[Row] = &[
    ("ids-kept", "an id is known for a day", "30 days", |it| it.meta_redis.ids_for_a_month = true),
    ("every-item", "the first entry and change of a delivery", "each", |it| it.meta_redis.every_item = true),
    ("mark-after-queue", "marked, then queued", "queued, then marked", |it| {
        it.meta_redis.mark_after_queue = true
    }),
    ("keyed-reply", "a reply under no key", "through a gateway under a key of its message", |it| {
        it.meta_redis.keyed_reply = true;
    }),
    (
        "dead-letters",
        "a job that stalls twice has failed, unseen",
        "what has failed is a dead letter",
        |it| {
            it.meta_redis.failed_is_dead_letter = true;
        },
    ),
    ("answer-in-time", "an answer when Redis has one", "within 800 ms, if only 503", |it| {
        it.meta_redis.answers_in_time = true;
    }),
];

const OF_ZAP: &[Row] = &[
    ("ids-kept", "an id is known for a day", "30 days", |it| it.zap.ids_for_a_month = true),
    ("mark-after-queue", "marked, then queued", "queued, then marked", |it| it.zap.mark_after_queue = true),
    ("dead-letters", "a job that has failed is kept, unseen", "what has failed is a dead letter", |it| {
        it.zap.failed_is_dead_letter = true;
    }),
    ("answer-in-time", "an answer when Redis has one", "within 800 ms, if only 503", |it| {
        it.zap.answers_in_time = true;
    }),
];

/// Those of text C's code alone.
const OF_EXPRESS_PG: &[Row] = &[
    ("outbox", "a reply in the middle of a transaction", "an outbox", |it| {
        it.express_pg.outbox = true;
    }),
    ("duplicate", "a known id is an error", "a duplicate", |it| {
        it.express_pg.violation_is_duplicate = true;
    }),
    ("failed-retry-releases", "a failed retry leaves its key", "releases it", |it| {
        it.express_pg.failed_retry_releases = true;
    }),
    ("dead-letters", "after five retries it is gone", "it is a dead letter", |it| {
        it.express_pg.dead_letters = true;
    }),
];

/// Those of text C's prose, and of its code besides its own.
const OF_TEXT_C: &[Row] = &[
    ("keyed-reply", "a reply under no key", "through a gateway under a key of its event", |it| {
        it.express_pg.keyed_reply = true;
    }),
    ("owned-keys", "anybody deletes a processing key", "its owner alone", |it| {
        it.express_pg.owned_keys = true;
    }),
    ("retry-waits", "a retry whose key is taken is dropped", "waits", |it| {
        it.express_pg.retry_waits = true;
    }),
    ("taken-is-no-ack", "200 to a delivery whose key is taken", "503", |it| {
        it.express_pg.taken_is_no_ack = true;
    }),
    ("answer-in-time", "an answer when the stores have one", "within 800 ms, if only 503", |it| {
        it.express_pg.answers_in_time = true;
    }),
];

/// The decisions in which a profile differs from `strict`, first the policy fields, then the structures; last, for a system
/// that receives in a way of its own, the one that replaces it.
///
/// # Errors
/// As [`Policy::departures`].
pub fn decisions(profile: &str) -> Result<Vec<Decision>, PolicyError> {
    let (rows, receives): (&[&[Row]], _) = match profile {
        META_REDIS => (&[OF_META_REDIS], true),
        ZAP => (&[OF_ZAP], true),
        EXPRESS_PG => (&[OF_EXPRESS_PG, OF_TEXT_C], true),
        EXPRESS_PG_PROSE => (&[OF_TEXT_C], true),
        _ => (&[], false),
    };
    let fields = Policy::departures(profile)?.into_iter().map(field);
    let last = receives.then(receiver_of_strict);
    Ok(fields.chain(rows.iter().copied().flatten().map(structure)).chain(last).collect())
}

fn field(departure: Departure) -> Decision {
    let Departure { field, decided, strict } = departure;
    Decision {
        name: field,
        decided: decided.to_string(),
        instead: strict.to_string(),
        take: Take::Field(strict),
    }
}

fn structure(&(name, decided, instead, take): &Row) -> Decision {
    let [name, decided, instead] = [name, decided, instead].map(str::to_owned);
    Decision { name, decided, instead, take: Take::Structure(take) }
}

fn receiver_of_strict() -> Decision {
    Decision {
        name: RECEIVER_OF_STRICT.into(),
        decided: "what is to be done is in Redis alone".into(),
        instead: "inbox, jobs and outbox in the database".into(),
        take: Take::ReceiverOfStrict,
    }
}
