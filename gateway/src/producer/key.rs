//! Keys of orders: drawn, or made of what the order is (S12).

use sha2::{Digest, Sha256};

use super::{Bucket, BucketTime, Domain, Encoding, OrderError, ProducerPolicy, Subject};
use crate::{domain_key::domain_key, hex};

/// A producer's keys: instance, recipient, what the subject is, subject, bucket, number of the step.
const SCHEME: &str = "pr1";

/// Who makes a key. It matters only where the encoding is not canonical.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Whoever takes the order, and may send it at once.
    Caller,
    /// A worker, which has it from the queue.
    Worker,
}

/// The key of one step of an order, from what the order is. `now_ms` is the maker's wall clock, which counts only where a
/// policy takes the bucket's time from it.
///
/// # Errors
/// [`OrderError::NoSubject`] and [`OrderError::NoDate`].
pub fn deterministic_key(
    policy: &ProducerPolicy,
    domain: &Domain,
    step: usize,
    place: Place,
    now_ms: i64,
) -> Result<String, OrderError> {
    let (kind, subject) = subject(policy, domain).ok_or(OrderError::NoSubject)?;
    let bucket = bucket(policy, domain, now_ms).ok_or(OrderError::NoDate)?;
    let Domain { instance, recipient, .. } = domain;
    Ok(match policy.encoding {
        Encoding::Canonical => {
            domain_key(SCHEME, &[instance, recipient, kind, subject, &bucket, &step.to_string()])
        }
        Encoding::Joined => {
            let mut parts = vec![instance.clone(), recipient.clone(), subject.to_owned()];
            // An event is one of a kind; a template comes again the next day.
            parts.extend((kind == TEMPLATE).then_some(bucket));
            parts.extend((step > 0).then(|| step.to_string()));
            hex::encode(&Sha256::digest(parts.join(separator(place))))
        }
    })
}

const EVENT: &str = "event";
const TEMPLATE: &str = "template";

/// An event and a template of the same name are two things.
fn subject<'a>(policy: &ProducerPolicy, domain: &'a Domain) -> Option<(&'static str, &'a str)> {
    let event = domain.event.as_deref().map(|event| (EVENT, event));
    let template = domain.template.as_deref().map(|template| (TEMPLATE, template));
    match policy.subject {
        Subject::EventOrTemplate => event.or(template),
        Subject::Template => template.or(event),
    }
}

fn bucket(policy: &ProducerPolicy, domain: &Domain, now_ms: i64) -> Option<String> {
    let at_ms = match policy.bucket_time {
        BucketTime::Event => domain.event_ms,
        BucketTime::Now => now_ms,
    };
    match policy.bucket {
        Bucket::Day => policy.zone.day(at_ms),
        Bucket::Hour => policy.zone.hour(at_ms),
        Bucket::Millisecond => Some(at_ms.to_string()),
    }
}

fn separator(place: Place) -> &'static str {
    match place {
        Place::Caller => ":",
        Place::Worker => "|",
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::RngSeed};

    use super::*;

    /// 2026-01-01T00:00:00Z.
    const NEW_YEAR_MS: i64 = 1_767_225_600_000;
    const HOUR_MS: i64 = 3_600_000;

    fn policy(profile: &str, fields: &str) -> ProducerPolicy {
        ProducerPolicy::profile_with(profile, &toml::from_str(fields).unwrap()).unwrap()
    }

    fn reminder() -> Domain {
        Domain {
            instance: "loja-1".into(),
            recipient: "5511999990001".into(),
            event: None,
            template: Some("RENOV_7D".into()),
            event_ms: NEW_YEAR_MS,
        }
    }

    fn key(policy: &ProducerPolicy, domain: &Domain) -> String {
        deterministic_key(policy, domain, 0, Place::Caller, NEW_YEAR_MS).unwrap()
    }

    /// Whoever makes keys in another language can check them against these.
    #[test]
    fn vectors() {
        let strict = policy("strict", "");
        let event = Domain { event: Some("pedido:70|x".into()), ..reminder() };
        let brazil = policy("strict", "zone = \"America/Sao_Paulo\"\nbucket = \"hour\"");
        assert_eq!(
            key(&strict, &reminder()),
            "pr1-a52e00aeec02648e7bc347e47ba286206d807b0a2cf818143b4149abe69a8874"
        );
        assert_eq!(
            key(&strict, &event),
            "pr1-25fb61934a07cdbd2d248c979d507ba30823a40722fed1c5f12e71f98c4496d3"
        );
        assert_eq!(
            key(&brazil, &reminder()),
            "pr1-a99de060da53d79af01aa132ccce902a14e6d44812667a1746a3b4e767b18def"
        );
        let second = deterministic_key(&strict, &event, 1, Place::Worker, 0).unwrap();
        assert_eq!(second, "pr1-ab453a1a1ab86b6386dc7bbd8804a7c704bf713980506885497c09bb47a4aa8d");
    }

    /// Text B's own lines, spelled out.
    #[test]
    fn joined_keys_are_those_of_the_text() {
        let zap = policy("zap", "");
        let sha256 = |text: &str| hex::encode(&Sha256::digest(text));
        let event = Domain { event: Some("pedido-70".into()), ..reminder() };
        let made = |domain: &Domain, place| deterministic_key(&zap, domain, 0, place, NEW_YEAR_MS).unwrap();
        assert_eq!(made(&event, Place::Caller), sha256("loja-1:5511999990001:pedido-70"));
        assert_eq!(made(&event, Place::Worker), sha256("loja-1|5511999990001|pedido-70"));
        assert_eq!(made(&reminder(), Place::Worker), sha256("loja-1|5511999990001|RENOV_7D|2026-01-01"));
    }

    #[test]
    fn an_event_that_is_called_like_a_template_and_its_day_is_another_message() {
        let named = Domain { event: Some("RENOV_7D|2026-01-01".into()), template: None, ..reminder() };
        let made = |policy: &ProducerPolicy, domain: &Domain| {
            deterministic_key(policy, domain, 0, Place::Worker, NEW_YEAR_MS).unwrap()
        };
        let (zap, strict) = (policy("zap", ""), policy("strict", ""));
        assert_eq!(made(&zap, &named), made(&zap, &reminder()), "joined parts collide");
        assert_ne!(made(&strict, &named), made(&strict, &reminder()));
        let event = Domain { event: Some("RENOV_7D".into()), template: None, ..reminder() };
        assert_ne!(made(&strict, &event), made(&strict, &reminder()));
    }

    #[test]
    fn the_bucket_is_of_the_event_and_not_of_the_clock() {
        let strict = policy("strict", "");
        let at = |policy: &ProducerPolicy, event_ms, now_ms| {
            deterministic_key(policy, &Domain { event_ms, ..reminder() }, 0, Place::Caller, now_ms).unwrap()
        };
        let late = NEW_YEAR_MS - 1;
        assert_eq!(at(&strict, late, late), at(&strict, late, NEW_YEAR_MS));
        assert_ne!(at(&strict, late, late), at(&strict, NEW_YEAR_MS, late), "the next day's");
        let zap = policy("zap", "");
        assert_ne!(at(&zap, late, late), at(&zap, late, NEW_YEAR_MS));
        let hourly = policy("strict", "bucket = \"hour\"");
        assert_ne!(at(&hourly, NEW_YEAR_MS, 0), at(&hourly, NEW_YEAR_MS + HOUR_MS, 0));
        let stamped = policy("strict", "bucket = \"millisecond\"\nbucket_time = \"now\"");
        assert_ne!(at(&stamped, late, 1), at(&stamped, late, 2));
    }

    #[test]
    fn a_rule_of_business_makes_two_orders_of_a_day_one() {
        let order = |event: &str| Domain { event: Some(event.into()), ..reminder() };
        let business = policy("strict", "subject = \"template\"");
        assert_eq!(key(&business, &order("pedido-70")), key(&business, &order("pedido-71")));
        let strict = policy("strict", "");
        assert_ne!(key(&strict, &order("pedido-70")), key(&strict, &order("pedido-71")));
    }

    fn text() -> impl Strategy<Value = String> {
        "[a:|1]{0,2}"
    }

    fn domain() -> impl Strategy<Value = Domain> {
        let parts = (text(), text(), prop::option::of(text()), prop::option::of(text()), 0..3_i64);
        let named = parts.prop_filter("about something", |(_, _, event, template, _)| {
            event.is_some() || template.is_some()
        });
        named.prop_map(|(instance, recipient, event, template, day)| Domain {
            instance,
            recipient,
            // The template of an event's message is no part of its key.
            template: template.filter(|_| event.is_none()),
            event,
            event_ms: NEW_YEAR_MS + day * 24 * HOUR_MS,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(12),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn other_facts_never_give_the_same_key(one in domain(), other in domain(), steps in (0..2_usize, 0..2_usize)) {
            let strict = policy("strict", "");
            let key = |domain: &Domain, step, place| deterministic_key(&strict, domain, step, place, 0).unwrap();
            let is_same = one == other && steps.0 == steps.1;
            let keys = (key(&one, steps.0, Place::Caller), key(&other, steps.1, Place::Worker));
            prop_assert_eq!(is_same, keys.0 == keys.1);
        }

        #[test]
        fn every_key_is_one_that_a_header_can_bear(domain in domain()) {
            let made = deterministic_key(&policy("strict", ""), &domain, 0, Place::Caller, 0).unwrap();
            let mut headers = http::HeaderMap::new();
            headers.insert(crate::key::IDEMPOTENCY_KEY, made.parse().unwrap());
            prop_assert_eq!(crate::key::from_headers(&headers, false), Ok(Some(made)));
        }
    }
}
