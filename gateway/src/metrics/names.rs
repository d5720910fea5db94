//! The names of the metrics, and what each is, with its unit.

use prometheus::Opts;

/// A metric's name and its help.
#[derive(Clone, Copy)]
pub(super) struct Named(pub(super) &'static str, &'static str);

impl Named {
    pub(super) fn opts(self) -> Opts {
        Opts::new(self.0, self.1)
    }
}

pub(super) const LATENCY: Named = Named(
    "onceproof_http_request_duration_seconds",
    "Time from the head of a request to the head of its answer, in seconds, by canonical route and class of the status; \
     hung-up where the caller did not wait for it.",
);
pub(super) const SENDS: Named = Named(
    "onceproof_sends_total",
    "Sends that were asked for with a good token and a readable body, by who asked: a producer, or a worker of this \
     gateway.",
);
pub(super) const REPLAYS: Named = Named(
    "onceproof_replays_total",
    "Sends that were answered with X-Idempotent-Replay: true, by who asked. The replay rate is this by \
     onceproof_sends_total.",
);
pub(super) const UNPROTECTED: Named = Named(
    "onceproof_unprotected_sends_total",
    "Requests to the provider that no key protects, by why: the caller gave none, or the store was down.",
);
pub(super) const ESCAPED: Named = Named(
    "onceproof_escaped_duplicates_total",
    "Messages that went out less than 5 minutes after one with the same recipient and content. Only this process's own \
     sends since its start are compared.",
);
pub(super) const ITEMS: Named = Named(
    "onceproof_webhook_items_total",
    "Items of authentic webhooks that are durably owned, each time they came.",
);
pub(super) const DUPLICATES: Named = Named(
    "onceproof_webhook_duplicates_total",
    "Items of webhooks that were known already. The duplicate rate is this by onceproof_webhook_items_total.",
);
pub(super) const RETRIES: Named = Named(
    "onceproof_retries_total",
    "Attempts after the first, by what is tried again: a job, the send of an outbox row, or asking a provider about an \
     unknown message.",
);
pub(super) const FAILURES: Named =
    Named("onceproof_permanent_failures_total", "Rows that became dead letters, by queue.");
pub(super) const ATTEMPTS: Named =
    Named("onceproof_job_attempts", "Attempts that a row took until it was done, by queue.");
pub(super) const DEPTH: Named = Named(
    "onceproof_queue_depth",
    "Rows that wait in the store, by queue and state, counted to 10001 a queue and no further.",
);
pub(super) const LETTERS: Named = Named(
    "onceproof_dead_letters",
    "Dead letters in the store that were not redriven, by queue, counted to 10001 and no further.",
);
pub(super) const UNKNOWN: Named = Named(
    "onceproof_unknown_messages",
    "Records in the store that are unknown: nobody can tell yet whether the message went out. Counted to 10001 \
     and no further.",
);
pub(super) const STORE_UP: Named = Named(
    "onceproof_store_up",
    "Whether the store answered this scrape (1) or not (0); without its answer what it alone knows is left out.",
);

/// What [`Metrics::totals`](super::Metrics::totals) and a store's census tell, each summed over its labels; of a
/// histogram the count, and the sum where that is a whole number.
pub const SUMMED: [&str; 14] = [
    "onceproof_dead_letters",
    "onceproof_escaped_duplicates_total",
    "onceproof_http_request_duration_seconds_count",
    "onceproof_job_attempts_count",
    "onceproof_job_attempts_sum",
    "onceproof_permanent_failures_total",
    "onceproof_queue_depth",
    "onceproof_replays_total",
    "onceproof_retries_total",
    "onceproof_sends_total",
    "onceproof_unknown_messages",
    "onceproof_unprotected_sends_total",
    "onceproof_webhook_duplicates_total",
    "onceproof_webhook_items_total",
];
