//! What a query about a lost answer came to.

use http::{Response, StatusCode};

use super::{Outcome, classify};

/// The three classes of answers to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sighting {
    /// The provider has the message.
    Found {
        /// Its id of the message.
        message_id: String,
    },
    /// The provider does not have the message, or not yet: its request may still be on its way, and its index behind.
    /// This is never proof that nothing was sent.
    NotFound,
    /// Nothing was learned.
    NoAnswer,
}

/// The class of a whole response to a query.
#[must_use]
pub fn sight(response: &Response<bytes::Bytes>) -> Sighting {
    match (classify(response), response.status()) {
        (Outcome::Success { message_id }, _) => Sighting::Found { message_id },
        // Where there is nothing to ask, asking on finds nothing either.
        (_, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) => Sighting::NotFound,
        _ => Sighting::NoAnswer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_id_is_found_and_only_a_404_is_not() {
        let found = Sighting::Found { message_id: "wamid.1".into() };
        for (status, body, expected) in [
            (200, r#"{"messages":[{"id":"wamid.1"}]}"#, found),
            (200, r#"{"messages":[]}"#, Sighting::NoAnswer),
            (404, r#"{"error":{"code":100,"message":"no"}}"#, Sighting::NotFound),
            (404, "", Sighting::NotFound),
            (405, "", Sighting::NotFound),
            (400, r#"{"error":{"code":100,"message":"no"}}"#, Sighting::NoAnswer),
            (429, "", Sighting::NoAnswer),
            (500, "", Sighting::NoAnswer),
        ] {
            let mut response = Response::new(bytes::Bytes::from_static(body.as_bytes()));
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            assert_eq!(sight(&response), expected, "{status} {body}");
        }
    }
}
