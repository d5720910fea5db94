//! Values that a scenario file may leave out.

use super::{REPLY, Span};

/// The default of counts.
pub(super) fn one() -> u32 {
    1
}

/// Whether a count is left out when written.
pub(super) fn is_one(n: &u32) -> bool {
    *n == 1
}

/// The default of `via`.
pub(super) fn first_gateway() -> Vec<String> {
    vec!["gateway-1".into()]
}

/// Whether `via` is left out when written.
pub(super) fn is_first_gateway(via: &[String]) -> bool {
    via == first_gateway()
}

/// The default of who acts on an event.
pub(super) fn reply() -> Vec<String> {
    vec![REPLY.into()]
}

/// Whether who acts on an event is left out when written.
pub(super) fn is_reply(subscribers: &[String]) -> bool {
    subscribers == reply()
}

/// Whether a switch is left out when written.
pub(super) fn is_false(on: &bool) -> bool {
    !*on
}

/// The default of a provider's memory.
pub(super) fn a_day() -> Span {
    Span::from_ms(24 * 60 * 60 * 1000)
}

/// Whether a provider's memory is left out when written.
pub(super) fn is_a_day(span: &Span) -> bool {
    *span == a_day()
}
