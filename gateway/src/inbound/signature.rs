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
