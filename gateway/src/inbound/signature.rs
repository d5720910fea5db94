//! Signatures over the raw bytes, compared in constant time, before anything is parsed or claimed (W2).

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName};
use sha2::Sha256;

use super::{Endpoint, Scheme};

const HUB: HeaderName = HeaderName::from_static("x-hub-signature-256");
const PLAIN: HeaderName = HeaderName::from_static("x-signature");
const STRIPE: HeaderName = HeaderName::from_static("stripe-signature");
const STANDARD: HeaderName = HeaderName::from_static("webhook-signature");
const STANDARD_TIME: HeaderName = HeaderName::from_static("webhook-timestamp");

/// The id of a Standard Webhook, which its signature covers.
pub(super) const STANDARD_ID: HeaderName = HeaderName::from_static("webhook-id");

/// The most signatures that are tried: a sender that rotates its secret bears two.
const MOST_SIGNATURES: usize = 8;

/// Whether the sender of these bytes has the endpoint's secret. Of a scheme that signs a time, it has to be within
/// `tolerance_ms` of ours.
pub(super) fn is_authentic(
    endpoint: &Endpoint,
    headers: &HeaderMap,
    body: &[u8],
    now_ms: i64,
    tolerance_ms: i64,
) -> bool {
    let is_near = |seconds: &str| {
        let at_ms = seconds.parse::<i64>().ok().and_then(|seconds| seconds.checked_mul(1000));
        at_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms).saturating_abs() <= tolerance_ms)
    };
    let verified = match endpoint.scheme {
        Scheme::Hub => hub(endpoint, headers, body),
        Scheme::Stripe => stripe(endpoint, headers, body, is_near),
        Scheme::StandardWebhooks => standard(endpoint, headers, body, is_near),
    };
    verified == Some(true)
}

fn hub(endpoint: &Endpoint, headers: &HeaderMap, body: &[u8]) -> Option<bool> {
    let header = if headers.contains_key(HUB) { HUB } else { PLAIN };
    let signature = only(headers, header)?;
    let signature = from_hex(signature.strip_prefix("sha256=").unwrap_or(signature))?;
    Some(is_signed(endpoint.secret.as_bytes(), &[body], &signature))
}

fn stripe(
    endpoint: &Endpoint,
    headers: &HeaderMap,
    body: &[u8],
    is_near: impl Fn(&str) -> bool,
) -> Option<bool> {
    let parts = || only(headers, STRIPE).into_iter().flat_map(|value| value.split(','));
    let named = |name: &'static str| {
        parts().filter_map(move |part| part.trim().split_once('=').filter(|(key, _)| *key == name))
    };
    let (_, time) = named("t").next().filter(|(_, time)| is_near(time))?;
    let mut signatures = named("v1").take(MOST_SIGNATURES).filter_map(|(_, signature)| from_hex(signature));
    let is_signed = |signature: Vec<u8>| {
        is_signed(endpoint.secret.as_bytes(), &[time.as_bytes(), b".", body], &signature)
    };
    Some(signatures.any(is_signed))
}

fn standard(
    endpoint: &Endpoint,
    headers: &HeaderMap,
    body: &[u8],
    is_near: impl Fn(&str) -> bool,
) -> Option<bool> {
    let id = only(headers, STANDARD_ID).filter(|id| !id.is_empty())?;
    let time = only(headers, STANDARD_TIME).filter(|time| is_near(time))?;
    let secret = match endpoint.secret.strip_prefix("whsec_") {
        Some(encoded) => BASE64_STANDARD.decode(encoded).ok()?,
        None => endpoint.secret.clone().into_bytes(),
    };
    let signatures = only(headers, STANDARD)?.split(' ').take(MOST_SIGNATURES);
    let mut signatures = signatures.filter_map(|signature| {
        let encoded = signature.strip_prefix("v1,")?;
        BASE64_STANDARD.decode(encoded).ok()
    });
    let signed = [id.as_bytes(), b".", time.as_bytes(), b".", body];
    Some(signatures.any(|signature| is_signed(&secret, &signed, &signature)))
}

/// In the same time whichever byte differs. An empty secret signs nothing.
fn is_signed(secret: &[u8], parts: &[&[u8]], signature: &[u8]) -> bool {
    let Some(mut mac) = Hmac::<Sha256>::new_from_slice(secret).ok().filter(|_| !secret.is_empty()) else {
        return false;
    };
    parts.iter().for_each(|part| mac.update(part));
    mac.verify_slice(signature).is_ok()
}

/// The value of a header that is there once, and is text.
pub(super) fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then(|| value.trim())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const NOW_MS: i64 = 1_614_265_330_000;
    const TOLERANCE_MS: i64 = 300_000;

    fn endpoint(scheme: Scheme, secret: &str) -> Endpoint {
        let (provider, instance, secret) = ("p".to_owned(), "loja-1".to_owned(), secret.to_owned());
        Endpoint { provider, scheme, secret, verify_token: None, instance, subscribers: Vec::new() }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn is_good(endpoint: &Endpoint, pairs: &[(&'static str, &str)], body: &str) -> bool {
        is_authentic(endpoint, &headers(pairs), body.as_bytes(), NOW_MS, TOLERANCE_MS)
    }

    /// Of GitHub's documentation, which signs as Meta does.
    #[test]
    fn a_hub_signature_is_over_the_raw_bytes() {
        const GOOD: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let endpoint = endpoint(Scheme::Hub, "It's a Secret to Everybody");
        let bare = GOOD.strip_prefix("sha256=").unwrap();
        for (pairs, body, expected) in [
            (&[("x-hub-signature-256", GOOD)][..], "Hello, World!", true),
            (&[("x-hub-signature-256", bare)], "Hello, World!", true),
            (&[("x-signature", bare)], "Hello, World!", true),
            (&[("x-signature", &GOOD.to_uppercase().replace("SHA256", "sha256"))], "Hello, World!", true),
            (&[("x-hub-signature-256", GOOD)], "Hello, World! ", false),
            (&[("x-hub-signature-256", "sha256=")], "Hello, World!", false),
            (&[("x-hub-signature-256", "sha256=é")], "Hello, World!", false),
            (&[("x-hub-signature-256", &GOOD[..GOOD.len() - 2])], "Hello, World!", false),
            (&[("x-hub-signature-256", "x"), ("x-signature", GOOD)], "Hello, World!", false),
            (&[], "Hello, World!", false),
        ] {
            assert_eq!(is_good(&endpoint, pairs, body), expected, "{pairs:?} {body}");
        }
        let mut twice = headers(&[("x-signature", GOOD)]);
        twice.append(PLAIN, HeaderValue::from_static("00"));
        assert!(!is_authentic(&endpoint, &twice, b"Hello, World!", NOW_MS, TOLERANCE_MS));
    }

    /// Of the specification of Standard Webhooks.
    #[test]
    fn a_standard_webhook_is_signed_with_its_id_and_time() {
        const BODY: &str = r#"{"test": 2432232314}"#;
        let good = [
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", "v1a,AAAA v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ];
        let ours = endpoint(Scheme::StandardWebhooks, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        assert!(is_good(&ours, &good, BODY));
        assert!(!is_good(&ours, &good[..2], BODY));
        assert!(!is_good(&ours, &[good[0], ("webhook-timestamp", "1614265331"), good[2]], BODY));
        assert!(!is_good(&ours, &[("webhook-id", "msg_other"), good[1], good[2]], BODY));
        for (offset_ms, expected) in [(0, true), (TOLERANCE_MS, true), (TOLERANCE_MS + 1, false)] {
            for now_ms in [NOW_MS + offset_ms, NOW_MS - offset_ms] {
                let is_good = is_authentic(&ours, &headers(&good), BODY.as_bytes(), now_ms, TOLERANCE_MS);
                assert_eq!(is_good, expected, "{offset_ms}");
            }
        }
        assert!(!is_good(&endpoint(Scheme::StandardWebhooks, "whsec_é"), &good, BODY), "no secret at all");
    }

    #[test]
    fn a_stripe_signature_has_a_time_and_perhaps_two_secrets() {
        let ours = endpoint(Scheme::Stripe, "s");
        let mut mac = Hmac::<Sha256>::new_from_slice(b"s").unwrap();
        mac.update(b"1614265330.{}");
        let good = crate::hex::encode(&mac.finalize().into_bytes());
        for (value, expected) in [
            (format!("t=1614265330,v1={good}"), true),
            (format!("t=1614265330,v1=00,v1={good},v0=00"), true),
            (format!("t=1614265330, v1={good}"), true),
            (format!("t=1614265331,v1={good}"), false),
            (format!("v1={good}"), false),
            (format!("t=1614265330,v0={good}"), false),
            ("t=99999999999999999999,v1=00".into(), false),
            ("t=9223372036854775807,v1=00".into(), false),
            (",,==,t".into(), false),
        ] {
            assert_eq!(is_good(&ours, &[("stripe-signature", &value)], "{}"), expected, "{value}");
        }
    }

    #[test]
    fn an_empty_secret_signs_nothing() {
        let mac = Hmac::<Sha256>::new_from_slice(b"").unwrap();
        let signature = crate::hex::encode(&mac.finalize().into_bytes());
        assert!(!is_good(&endpoint(Scheme::Hub, ""), &[("x-signature", &signature)], ""));
    }
}
