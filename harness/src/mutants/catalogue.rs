//! All mutants.

use std::sync::Arc;

use super::{
    Mutant, Planted,
    events::{
        AckFirst, DroppedRetries, EarlyMark, FirstItem, Inline, LockAsRecord, ReEncoded, RedriveAnew,
        SignatureAsId, StatusBackwards, WithoutConstraint,
    },
    orders::{BUSINESS_KEY, NEW_KEY_PER_RETRY, NEW_KEY_PER_STEP, STAMPED_KEY, UNWRITTEN_KEY},
    sends::{
        CallerLeaves, FAIL_OPEN, FieldOrder, FileLeftOut, ForgottenCommits, GetThenSet, KeyOfAllTenants,
        LateMark, NO_WAY_OUT, NoHeaders, NoToken, NotFoundIsNotSent, QUERYABLE, ReleaseAfterEffect,
        ReleaseOn5xx, ReusedToken, SHORT_TTL, Unfenced,
    },
};
use crate::history::Ability::{self, Echoing, Keyed, Opaque, Queryable};

/// It hurts whatever the provider can do.
const ANY: &[Ability] = &[Keyed, Queryable, Echoing, Opaque];

/// Every mutant: producers, sends, events.
pub const ALL: &[Mutant] = &[
    mutant("new-key-per-retry", "Each retry of a producer bears a new key.", &["S12"], || {
        Arc::new(NEW_KEY_PER_RETRY)
    }),
    mutant("timestamp-in-the-key", "A key is made of the time at which it is made.", &["S12"], || {
        Arc::new(STAMPED_KEY)
    }),
    mutant("key-not-persisted", "A key is in its job, and nowhere else.", &["S12"], || {
        Arc::new(UNWRITTEN_KEY)
    }),
    mutant(
        "business-uniqueness-as-a-key",
        "A key is about the kind of message and its day, and not about what happened.",
        &["S12"],
        || Arc::new(BUSINESS_KEY),
    ),
    mutant("failed-step-with-a-new-key", "A step that failed is a new operation.", &["S13"], || {
        Arc::new(NEW_KEY_PER_STEP)
    }),
    mutant(
        "ttl-too-short",
        "An answer is forgotten after 30 minutes, and a repetition is a new send.",
        &["S5"],
        || Arc::new(SHORT_TTL),
    ),
    mutant("get-then-set", "A key is looked up, and taken in a second step.", &["S4", "S10"], || {
        Arc::new(GetThenSet)
    }),
    mutant("5xx-released", "An ambiguous outcome frees the key.", &["S6"], || Arc::new(ReleaseOn5xx)),
    mutant(
        "run-again-after-crash",
        "The mark is written with the outcome: whoever dies in between has sent nothing.",
        &["S10"],
        || Arc::new(LateMark::default()),
    ),
    mutant(
        "lock-shorter-than-handler",
        "A lease of 3 s, where the provider may take 10 s.",
        &["S10", "M3"],
        || Arc::new(LateMark::SHORT_LEASE),
    ),
    mutant("release-after-effect", "A key is free again once its send is done.", &["S2"], || {
        Arc::new(ReleaseAfterEffect)
    }),
    mutant("released-when-caller-leaves", "A key is free again once its caller hangs up.", &["S10"], || {
        Arc::new(CallerLeaves::default())
    }),
    mutant("no-way-out", "A lease that never ends.", &["S10"], || Arc::new(NO_WAY_OUT)),
    mutant("lease-without-fencing", "No token is compared.", &["S10", "W7"], || Arc::new(Unfenced)),
    mutant("fencing-token-reused", "Every claim has the same token.", &["S10"], || Arc::new(ReusedToken)),
    mutant("commit-not-durable", "The database confirms what is not yet on the disk.", &["S5"], || {
        Arc::new(ForgottenCommits)
    }),
    mutant("fail-open", "While the store is down, messages go out unprotected.", &["S7"], || {
        Arc::new(FAIL_OPEN)
    }),
    mutant("key-shared-by-tenants", "The instance is not part of a key's scope.", &["S9"], || {
        Arc::new(KeyOfAllTenants)
    }),
    mutant("fingerprint-by-field-order", "Content is compared by its bytes.", &["S3"], || {
        Arc::new(FieldOrder::default())
    }),
    mutant("file-left-out-of-the-fingerprint", "Uploads are compared without their files.", &["S8"], || {
        Arc::new(FileLeftOut::default())
    }),
    Mutant {
        name: "not-found-taken-for-not-sent",
        says: "What the provider does not find frees its key.",
        rules: &["S10", "S11"],
        abilities: QUERYABLE,
        plant: || Arc::new(NotFoundIsNotSent),
    },
    mutant("key-without-token", "Whoever knows a key needs no token.", &["S1"], || Arc::new(NoToken)),
    mutant(
        "replay-without-headers",
        "A replay has the body of the first answer, and not its headers.",
        &["S2"],
        || Arc::new(NoHeaders),
    ),
    mutant("mark-before-enqueue", "A delivery is marked as seen before it is owned.", &["W5"], || {
        Arc::new(EarlyMark::default())
    }),
    mutant(
        "lock-taken-for-a-record",
        "200 for a duplicate whose first attempt may still die.",
        &["W6", "W9"],
        || Arc::new(LockAsRecord::default()),
    ),
    mutant("ack-before-durable", "A delivery is acknowledged, and made durable afterwards.", &["W6"], || {
        Arc::new(AckFirst)
    }),
    mutant("inline-before-200", "A delivery is answered when all work is done.", &["W6"], || {
        Arc::new(Inline)
    }),
    mutant("first-of-a-batch", "Only the first item of a delivery is looked at.", &["W4"], || {
        Arc::new(FirstItem)
    }),
    mutant(
        "signature-over-re-encoded-json",
        "The body is parsed and written again before its signature is verified.",
        &["W2"],
        || Arc::new(ReEncoded),
    ),
    mutant(
        "signature-as-id",
        "The signature of a delivery is taken for the id of its event.",
        &["W3"],
        || Arc::new(SignatureAsId),
    ),
    mutant("redis-without-constraint", "No event id is unique in the database.", &["W5"], || {
        Arc::new(WithoutConstraint::default())
    }),
    mutant("retries-dropped", "What is to be tried again is taken for done.", &["W8"], || {
        Arc::new(DroppedRetries)
    }),
    mutant("redrive-with-a-new-key", "Each redrive of a dead letter is a new send.", &["W8"], || {
        Arc::new(RedriveAnew::default())
    }),
    mutant("status-moves-back", "The last status that came is believed.", &["W11"], || {
        Arc::new(StatusBackwards)
    }),
];

const fn mutant(
    name: &'static str,
    says: &'static str,
    rules: &'static [&'static str],
    plant: fn() -> Planted,
) -> Mutant {
    Mutant { name, says, rules, abilities: ANY, plant }
}

/// The mutant of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Mutant> {
    ALL.iter().find(|mutant| mutant.name == name)
}
