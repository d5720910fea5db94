//! Signatures over the raw bytes (W2). Apart from the gateway's own code, so that neither can hide a mistake of the other.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::request::Builder;
use sha2::Sha256;

use crate::plan::SignatureScheme;

/// What Meta and whoever signs with `x-signature` share with the gateway.
pub const META_SECRET: &str = "secret-of-the-app";
/// What Stripe shares with the gateway.
pub const STRIPE_SECRET: &str = "whsec_of_stripe";
/// What a sender of Standard Webhooks shares with the gateway: Base64 after its prefix.
pub const STANDARD_SECRET: &str = "whsec_c2VjcmV0LW9mLXRoZS1zdGFuZGFyZA==";
/// What the handshake bears.
pub const VERIFY_TOKEN: &str = "token-of-the-handshake";

/// A secret of nobody.
const WRONG_SECRET: &[u8] = b"secret-of-nobody";

/// Signs these bytes at this time. With the wrong secret, everything else is as it should be.
pub fn sign(
    request: Builder,
    scheme: SignatureScheme,
    id: &str,
    seconds: i64,
    body: &[u8],
    with_secret: bool,
) -> Builder {
    let key = |secret: Vec<u8>| if with_secret { secret } else { WRONG_SECRET.to_vec() };
    let time = seconds.to_string();
    match scheme {
        SignatureScheme::Meta => {
            let signature = hex(&hmac(&key(META_SECRET.into()), &[body]));
            request.header("x-hub-signature-256", format!("sha256={signature}"))
        }
        SignatureScheme::XSignature => {
            request.header("x-signature", hex(&hmac(&key(META_SECRET.into()), &[body])))
        }
        SignatureScheme::Stripe => {
            let signature = hex(&hmac(&key(STRIPE_SECRET.into()), &[time.as_bytes(), b".", body]));
            request.header("stripe-signature", format!("t={time},v1={signature}"))
        }
        SignatureScheme::Standard => {
            let secret = STANDARD_SECRET.strip_prefix("whsec_").unwrap_or(STANDARD_SECRET);
            let secret = BASE64_STANDARD.decode(secret).unwrap_or_default();
            let signed = [id.as_bytes(), b".", time.as_bytes(), b".", body];
            let signature = BASE64_STANDARD.encode(hmac(&key(secret), &signed));
            request
                .header("webhook-id", id)
                .header("webhook-timestamp", time)
                .header("webhook-signature", format!("v1,{signature}"))
        }
    }
}

fn hmac(secret: &[u8], pieces: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a secret of any length will do");
    pieces.iter().for_each(|piece| mac.update(piece));
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn header(scheme: SignatureScheme, secret: bool, name: &str, body: &[u8]) -> String {
        let request = sign(Request::builder(), scheme, "msg_1", 1_614_265_330, body, secret);
        let request = request.body(()).expect("headers that HTTP carries");
        request.headers()[name].to_str().expect("text").into()
    }

    #[test]
    fn an_hmac_is_that_of_rfc_4231() {
        let mac = hex(&hmac(b"Jefe", &[b"what do ya want ", b"for nothing?"]));
        assert_eq!(mac, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn each_scheme_has_its_header_and_the_wrong_secret_another_value() {
        let schemes = [
            (SignatureScheme::Meta, "x-hub-signature-256", "sha256="),
            (SignatureScheme::XSignature, "x-signature", ""),
            (SignatureScheme::Stripe, "stripe-signature", "t=1614265330,v1="),
            (SignatureScheme::Standard, "webhook-signature", "v1,"),
        ];
        for (scheme, name, prefix) in schemes {
            let good = header(scheme, true, name, b"{}");
            assert!(good.starts_with(prefix), "{good}");
            assert_ne!(good, header(scheme, false, name, b"{}"));
            assert_ne!(good, header(scheme, true, name, b"{ }"), "every byte counts");
        }
    }
}
