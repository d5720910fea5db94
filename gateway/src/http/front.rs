//! What whoever embeds a gateway puts before its routes.

use std::{fmt, sync::Arc};

use axum::Router;

/// Middleware before the routes of a gateway.
#[derive(Clone)]
pub struct Front(Arc<dyn Fn(Router) -> Router + Send + Sync>);

impl Front {
    /// The middleware that makes one router of another.
    pub fn new(wrap: impl Fn(Router) -> Router + Send + Sync + 'static) -> Self {
        Self(Arc::new(wrap))
    }

    /// The middleware before these routes.
    pub fn before(&self, router: Router) -> Router {
        (self.0)(router)
    }
}

impl fmt::Debug for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Front")
    }
}
