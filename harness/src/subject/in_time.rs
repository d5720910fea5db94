//! The answer of a handler that goes on when its caller has gone, as one in Node does.

use std::time::Duration;

use axum::http::StatusCode;
use onceproof_gateway::world::{SharedWorld, to_the_end, within};

/// Less than a sender's patience, which is a second (W6).
const PATIENCE: Duration = Duration::from_millis(800);

/// What the handler answers, or 500 where it fails; where it has to be in time and is not, 503, and the work goes on.
pub async fn in_time<E: Send + 'static>(
    world: &SharedWorld,
    has_to_be: bool,
    handler: impl Future<Output = Result<StatusCode, E>> + Send + 'static,
) -> StatusCode {
    let answer = async {
        let handled = to_the_end(&**world, handler).await;
        handled.and_then(Result::ok).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    };
    match has_to_be {
        true => within(&**world, PATIENCE, answer).await.unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
        false => answer.await,
    }
}
