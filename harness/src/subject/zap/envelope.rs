//! Which deliveries text B's receiver can read: it takes the id from `body.id`.

use crate::plan::{Deliver, Scenario, SignatureScheme};

/// Whether a delivery can be put into an envelope of one event with its id at the top. Meta's has it further down, a batch has
/// several, and other signatures have other routes.
#[must_use]
pub fn can_read(deliver: &Deliver) -> bool {
    match deliver.scheme {
        SignatureScheme::Stripe => true,
        SignatureScheme::Meta => deliver.items.is_empty() && deliver.body.is_none(),
        SignatureScheme::XSignature | SignatureScheme::Standard => false,
    }
}

/// The same story, whose events come in Stripe's envelope, and signed as Stripe does, to the one route that there is.
#[must_use]
pub fn readable(mut scenario: Scenario) -> Scenario {
    let deliveries = scenario.steps.iter_mut().filter_map(|step| step.deliver.as_mut());
    deliveries
        .filter(|deliver| deliver.scheme == SignatureScheme::Meta)
        .for_each(|deliver| deliver.scheme = SignatureScheme::Stripe);
    scenario
}
