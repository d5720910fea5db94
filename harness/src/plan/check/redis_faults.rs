//! Checks of what Redis loses.

use super::File;
use crate::plan::places::Place;
use crate::plan::{Fault, PlanError, Span};
use crate::sim::actors::redis;

/// How far back writes can be lost.
const FURTHEST: Span = Span::from_ms(60_000);

pub(super) fn check(file: &File<'_>, place: &Place, fault: &Fault, has_redis: bool) -> Result<(), PlanError> {
    for (field, host) in [("empty", &fault.empty), ("refuse_writes", &fault.refuse_writes)] {
        if let Some(host) = host {
            let known: &[&str] = if has_redis { &[redis::HOST] } else { &[] };
            file.known(&place.key(field), "store of hints", host, known)?;
        }
    }
    let without_host = [
        ("evict", fault.evict.is_some()),
        ("lose_last", fault.lose_last.is_some()),
        ("fail_over", fault.fail_over.is_some()),
    ];
    if let Some((field, _)) = without_host.into_iter().find(|(_, said)| *said && !has_redis) {
        return Err(file
            .mistaken_key(&place.key(field), format!("there is no Redis that could `{field}`"))
            .help("add `redis = true` to [world], or let only profiles play that have one of their own"));
    }
    if fault.evict.as_ref().is_some_and(String::is_empty) {
        return Err(file
            .mistake(&place.key("evict"), "the pattern fits no key")
            .help("write `*` for all keys, or a pattern such as `stripe:*`"));
    }
    if let Some(span) = fault.lose_last {
        file.lasts(&place.key("lose_last"), "what is lost", span)?;
    }
    for (field, span) in [("lose_last", fault.lose_last), ("fail_over", fault.fail_over)] {
        if let Some(span) = span.filter(|span| *span > FURTHEST) {
            return Err(file
                .mistake(&place.key(field), format!("{span} is further back than is remembered"))
                .help(format!("it may be up to {FURTHEST}")));
        }
    }
    Ok(())
}
