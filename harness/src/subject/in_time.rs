//! An answer within the patience of whoever waits for it.

use std::time::Duration;

use axum::http::StatusCode;
use onceproof_gateway::world::{SharedWorld, within};

/// Less than a sender's patience, which is a second (W6).
const PATIENCE: Duration = Duration::from_millis(800);

/// The answer; where it has to be in time and is not, 503, and the work goes on.
pub async fn in_time(
    world: &SharedWorld,
    has_to_be: bool,
    answer: impl Future<Output = StatusCode>,
) -> StatusCode {
    match has_to_be {
        true => within(&**world, PATIENCE, answer).await.unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
        false => answer.await,
    }
}
