//! How long each request takes, by canonical route and class of the status (M1).

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    body::Body,
    extract::{MatchedPath, Request},
    middleware::Next,
};
use http::{Response, StatusCode};

use super::{
    api::{Api, PREFIXES},
    route::Route,
};

/// A request in hand. It is counted when it ends: one whose caller hangs up is a slow one, and must not be missing.
struct Timed {
    api: Arc<Api>,
    route: &'static str,
    began: Duration,
    /// The class of the answer's status, once there is one.
    class: &'static str,
}

impl Drop for Timed {
    fn drop(&mut self) {
        let protocol = &self.api.protocol;
        let took = protocol.world.since_boot().saturating_sub(self.began);
        protocol.metrics.answered(self.route, self.class, took);
    }
}

/// Times a request from its head to the head of its answer, or until its caller hangs up.
pub(super) async fn measure(
    Extension(api): Extension<Arc<Api>>,
    path: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let route = canonical(path.as_ref().map(MatchedPath::as_str));
    let began = api.protocol.world.since_boot();
    let mut timed = Timed { api, route, began, class: "hung-up" };
    let response = next.run(request).await;
    timed.class = class(response.status());
    response
}

/// Of the route's own path, in which no id stands: whatever is in no route is `none`.
fn canonical(path: Option<&str>) -> &'static str {
    let Some(path) = path else {
        return "none";
    };
    let bare = PREFIXES.iter().find_map(|prefix| path.strip_prefix(prefix)).unwrap_or(path);
    let send = bare.strip_prefix("/instances/{id}/");
    let is_it = |route: &&Route| send == Some(route.name());
    match (Route::ALL.iter().find(is_it), bare) {
        (Some(route), _) => route.name(),
        (None, "/instances") => "instances",
        (None, "/metrics") => "metrics",
        (None, "/health") => "health",
        (None, _) if bare.starts_with("/webhooks/") => "webhooks",
        (None, _) if bare.starts_with("/admin/") => "admin",
        (None, _) if bare.ends_with("/status") => "status",
        (None, _) => "none",
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}
