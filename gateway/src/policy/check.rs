//! What a configuration promises and gives up, told before it runs.

use std::{fmt, time::Duration};

use super::{Ambiguous, Answers, Policy, StoreDown};
use crate::provider::Ability;

/// What a finding means for the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The gateway may run, and a promise is given up.
    Warned,
    /// The protocol's own assumptions do not hold: the gateway must not run.
    Refused,
}

/// One thing that is to be known of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether a gateway may run with it.
    pub severity: Severity,
    /// The fields that it comes from; none where it comes from the provider alone.
    pub fields: &'static [&'static str],
    /// What it means, in plain words, with the rule.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warned => "warned",
            Severity::Refused => "refused",
        };
        write!(f, "{severity}: {}", self.text)?;
        match self.fields {
            [] => Ok(()),
            fields => write!(f, " [{}]", fields.join(", ")),
        }
    }
}

impl Policy {
    /// What is to be known of this policy in front of a provider of this ability, refusals first. Empty where every
    /// promise holds.
    #[must_use]
    pub fn check(&self, ability: Ability) -> Vec<Finding> {
        let mut findings = Vec::new();
        self.check_periods(&mut findings);
        self.check_ability(ability, &mut findings);
        self.check_horizon(&mut findings);
        self.check_events(&mut findings);
        self.check_choices(&mut findings);
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }

    /// For how long a key may be repeated, by a producer or by this gateway's own workers, with the skew (M3).
    #[must_use]
    pub fn key_horizon(&self) -> Duration {
        self.producer_window.max(self.queue_delay + self.redrive_window) + self.skew
    }

    /// For how long an event may come again or be redriven: sender's retry window + queue delay + oldest age of a redrive +
    /// skew (M3).
    #[must_use]
    pub fn event_horizon(&self) -> Duration {
        self.sender_window + self.queue_delay + self.redrive_window + self.skew
    }

    fn check_periods(&self, findings: &mut Vec<Finding>) {
        let least = self.provider_timeout + self.skew;
        let whole = self.send_deadline + least;
        if self.lease < least {
            findings.push(refused(
                &["lease", "provider_timeout", "skew"],
                format!(
                    "a lease of {} ends before the provider's timeout and the skew do ({}), so that a dispatch in \
                     time is judged by another gateway (S10)",
                    plain(self.lease),
                    plain(least)
                ),
            ));
        } else if self.lease < whole {
            findings.push(warned(
                &["lease", "send_deadline", "provider_timeout", "skew"],
                format!(
                    "a dispatch in time may take {}, and its lease ends after {}: slow sends become unknown (S10)",
                    plain(whole),
                    plain(self.lease)
                ),
            ));
        }
        let in_hand = self.caller_patience + self.provider_timeout + self.store_timeout;
        if self.drain < in_hand {
            findings.push(warned(
                &["drain", "caller_patience", "provider_timeout", "store_timeout"],
                format!(
                    "a send in hand may take {}, and a gateway that is told to stop cuts it off after {}: it becomes \
                     unknown (S10, W7)",
                    plain(in_hand),
                    plain(self.drain)
                ),
            ));
        }
        if self.send_deadline.is_zero() {
            findings.push(refused(&["send_deadline"], "no first byte may ever leave (S10)"));
        }
        if self.text_limit == 0 || self.body_limit == 0 {
            findings.push(refused(&["text_limit", "body_limit"], "no message is short enough"));
        }
    }

    fn check_ability(&self, ability: Ability, findings: &mut Vec<Finding>) {
        let dead_after = self.dead_after();
        match ability {
            Ability::Keyed { retention } if retention <= dead_after => findings.push(refused(
                ALIVE,
                format!(
                    "the provider forgets a key after {}, and a request may be alive for {}: it can never be asked \
                     again, and is to be declared opaque (S10)",
                    plain(retention),
                    plain(dead_after)
                ),
            )),
            Ability::Keyed { retention } if retention <= 2 * dead_after => findings.push(warned(
                ALIVE,
                format!(
                    "the provider forgets a key after {}, less than twice the {} for which a request may be alive: \
                     a refused re-ask never frees its key (S10)",
                    plain(retention),
                    plain(dead_after)
                ),
            )),
            Ability::Keyed { .. } => {}
            Ability::Queryable => findings.push(warned(
                &[],
                "what the provider does not find stays unknown until the operator settles it (S10)",
            )),
            Ability::Echoing => findings.push(warned(
                &[],
                "what no status of the provider tells of stays unknown until the operator settles it (S10, W11)",
            )),
            Ability::Opaque => findings.push(warned(
                &[],
                "the provider takes no key and cannot be asked: what is unknown stays so until the operator settles \
                 it (S10)",
            )),
        }
    }

    /// Retention of keys >= for how long a key may be repeated + skew (M3). A producer's window is its own; an event's key
    /// is made when the event comes, waits in the queue, and may be redriven.
    fn check_horizon(&self, findings: &mut Vec<Finding>) {
        let needed = self.key_horizon();
        let ttls = self.ttl_by_route.iter().map(|(route, ttl)| (route.as_str(), *ttl));
        let rest = if self.ttl_by_route.is_empty() { "every route" } else { "any other route" };
        for (route, ttl) in [(rest, self.ttl)].into_iter().chain(ttls) {
            let kept = ttl + self.tombstone;
            if kept < needed {
                findings.push(warned(
                    &[
                        "ttl",
                        "ttl_by_route",
                        "tombstone",
                        "producer_window",
                        "queue_delay",
                        "redrive_window",
                        "skew",
                    ],
                    format!(
                        "{route}: a key is remembered for {}, and may be repeated for {}: a later repetition is a \
                         second message (M3, S5)",
                        plain(kept),
                        plain(needed)
                    ),
                ));
            }
        }
    }

    /// The same for the ids of events, and what keeps a worker's lease its own (M3, W1, W5, W7, W8).
    fn check_events(&self, findings: &mut Vec<Finding>) {
        let needed = self.event_horizon();
        if self.inbox_kept < needed {
            findings.push(warned(
                &["inbox_kept", "sender_window", "queue_delay", "redrive_window", "skew"],
                format!(
                    "the id of an event is known for {}, and the event may come or be redriven for {}: after that it is a \
                     second event (M3, W1)",
                    plain(self.inbox_kept),
                    plain(needed)
                ),
            ));
        }
        if self.inbox_kept < self.hint_ttl {
            findings.push(warned(
                &["hint_ttl", "inbox_kept"],
                "a hint outlives the ids that it stands for, and swallows an event that counts as new (W5)",
            ));
        }
        if self.lease <= self.heartbeat {
            findings.push(refused(
                &["heartbeat", "lease"],
                "a worker's lease is out before it is ever prolonged (W7)",
            ));
        }
    }

    fn check_choices(&self, findings: &mut Vec<Finding>) {
        if self.answers == Answers::Memory {
            let text = "a restart forgets every key, and no other gateway knows them: a repetition there is a second \
                        message (S5, S10)";
            findings.push(warned(&["answers"], text));
        }
        if self.tombstone.is_zero() {
            let text = "a repetition after the TTL is a second message (S5)";
            findings.push(warned(&["tombstone"], text));
        }
        if self.ambiguous == Ambiguous::StoreAndReplay {
            let text = "an outcome that cannot be told is replayed as a failure, sent or not (S6)";
            findings.push(warned(&["ambiguous"], text));
        }
        if self.store_down == StoreDown::SendUnprotected {
            let text = "while the store is down a repetition is a second message (S7)";
            findings.push(warned(&["store_down"], text));
        }
    }
}

/// What a request's longest life comes from.
const ALIVE: &[&str] = &["send_deadline", "longest_request_age", "skew"];

fn refused(fields: &'static [&'static str], text: impl Into<String>) -> Finding {
    Finding { severity: Severity::Refused, fields, text: text.into() }
}

fn warned(fields: &'static [&'static str], text: impl Into<String>) -> Finding {
    Finding { severity: Severity::Warned, fields, text: text.into() }
}

/// A period for a person to read. humantime knows months, and nobody knows how long these are.
#[must_use]
pub fn plain(period: Duration) -> String {
    const DAY: u64 = 24 * 3600;
    let days = period.as_secs() / DAY;
    match (days, period - Duration::from_secs(days * DAY)) {
        (0, rest) => humantime::format_duration(rest).to_string(),
        (days, Duration::ZERO) => format!("{days}d"),
        (days, rest) => format!("{days}d {}", humantime::format_duration(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYED: Ability = Ability::Keyed { retention: Duration::from_secs(24 * 3600) };

    fn fields(policy: &Policy, ability: Ability) -> Vec<(Severity, &'static str)> {
        let findings = policy.check(ability).into_iter();
        findings.map(|it| (it.severity, it.fields.first().copied().unwrap_or_default())).collect()
    }

    fn policy(text: &str) -> Policy {
        Policy::from_toml(text).unwrap()
    }

    #[test]
    fn strict_gives_nothing_up_but_what_its_provider_cannot_tell() {
        let strict = Policy::profile("strict").unwrap();
        assert_eq!(strict.check(KEYED), []);
        assert_eq!(fields(&strict, Ability::Opaque), [(Severity::Warned, "")]);
        assert_eq!(fields(&strict, Ability::Queryable), [(Severity::Warned, "")]);
    }

    #[test]
    fn the_other_profiles_are_told_what_they_give_up() {
        let warned = |field| (Severity::Warned, field);
        let zap = Policy::profile("zap").unwrap();
        assert_eq!(fields(&zap, KEYED), ["ttl", "answers", "tombstone"].map(warned));
        let ietf = Policy::profile("ietf-gateway").unwrap();
        assert_eq!(fields(&ietf, KEYED), ["ttl", "tombstone", "ambiguous", "store_down"].map(warned));
    }

    #[test]
    fn a_lease_outlasts_the_providers_timeout_and_the_skew() {
        assert_eq!(fields(&policy("lease = \"14s\""), KEYED), [(Severity::Refused, "lease")]);
        assert_eq!(fields(&policy("lease = \"15s\""), KEYED), [(Severity::Warned, "lease")]);
        assert_eq!(fields(&policy("lease = \"25s\""), KEYED), []);
    }

    #[test]
    fn a_retention_that_no_re_ask_fits_into_is_refused() {
        let strict = Policy::profile("strict").unwrap();
        for (seconds, expected) in [(75, Some(Severity::Refused)), (150, Some(Severity::Warned)), (151, None)]
        {
            let findings = strict.check(Ability::Keyed { retention: Duration::from_secs(seconds) });
            assert_eq!(findings.first().map(|finding| finding.severity), expected, "{seconds}");
        }
    }

    #[test]
    fn every_route_keeps_its_keys_as_long_as_they_may_come_again() {
        let text = "tombstone = \"14d\"\nskew = \"0s\"\nttl_by_route = { messages = \"1d\" }";
        assert_eq!(policy(text).check(KEYED), []);
        let findings = policy("tombstone = \"14d\"\nttl_by_route = { messages = \"2d\" }").check(KEYED);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].to_string().contains("M3"), "{}", findings[0]);
    }

    #[test]
    fn the_horizon_of_keys_is_exact_in_each_of_its_parts() {
        let warns = |text: &str| fields(&policy(text), KEYED) == [(Severity::Warned, "ttl")];
        // A producer for longer than an event waits and is redriven: 20 d and 5 s.
        let by_producer = |tombstone: &str| format!("producer_window = \"20d\"\ntombstone = \"{tombstone}\"");
        assert!(!warns(&by_producer("19d 5s")));
        assert!(warns(&by_producer("19d 4s")));
        // The other way round: 2 d, 14 d and 5 s.
        let by_event = |tombstone: &str| format!("queue_delay = \"2d\"\ntombstone = \"{tombstone}\"");
        assert!(!warns(&by_event("15d 5s")));
        assert!(warns(&by_event("15d 4s")));
        let redriven = |tombstone: &str| format!("redrive_window = \"15d\"\ntombstone = \"{tombstone}\"");
        assert!(!warns(&redriven("15d 5s")));
        assert!(warns(&redriven("15d 4s")));
    }

    #[test]
    fn the_horizon_of_events_is_exact_in_each_of_its_parts() {
        // 7 d of deliveries, 1 d in the queue, 14 d until the last redrive, 5 s between two clocks.
        for (change, least, less) in [
            ("", "22d 5s", "22d 4s 999ms"),
            ("sender_window = \"6d\"", "21d 5s", "21d 4s 999ms"),
            ("queue_delay = \"3d\"", "24d 5s", "24d 4s 999ms"),
            ("redrive_window = \"13d\"", "21d 5s", "21d 4s 999ms"),
            ("skew = \"4s\"", "22d 4s", "22d 3s 999ms"),
        ] {
            let with = |kept: &str| fields(&policy(&format!("{change}\ninbox_kept = \"{kept}\"")), KEYED);
            assert_eq!(with(least), [], "{change}");
            assert_eq!(with(less), [(Severity::Warned, "inbox_kept")], "{change}");
        }
    }

    #[test]
    fn the_ids_of_events_outlive_their_senders_and_their_redrives() {
        assert_eq!(fields(&policy("inbox_kept = \"21d\""), KEYED), [(Severity::Warned, "inbox_kept")]);
        assert_eq!(fields(&policy("hint_ttl = \"31d\""), KEYED), [(Severity::Warned, "hint_ttl")]);
        assert_eq!(fields(&policy("heartbeat = \"30s\""), KEYED), [(Severity::Refused, "heartbeat")]);
    }

    #[test]
    fn what_can_send_nothing_is_refused() {
        let refused = [(Severity::Refused, "send_deadline"), (Severity::Refused, "text_limit")];
        assert_eq!(fields(&policy("send_deadline = \"0s\"\ntext_limit = 0"), KEYED), refused);
    }
}
