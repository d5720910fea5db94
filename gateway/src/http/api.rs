//! The routes. Order of checks: authentication → key syntax → size and parse → look-up → validation.

use std::{
    convert::Infallible,
    sync::{Arc, LazyLock},
};

use axum::{
    Extension, Router,
    body::{Body, Bytes, HttpBody},
    extract::{Path, Request, rejection::PathRejection},
    middleware,
    routing::post,
};
use http::{HeaderMap, Response, StatusCode};
use hyper::service::Service;
use hyper_util::service::{TowerToHyperService, TowerToHyperServiceFuture};

use super::{
    Problem,
    access::Access,
    admin,
    content::{self, Content},
    form::Forms,
    latency,
    route::Route,
    status, watch,
};
use crate::{
    inbound::{self, Receiver},
    key,
    message::{self, INSTANCES_SCOPE},
    metrics::{Asker, Surveyor},
    send::{Protocol, SendRequest},
    store::Slot,
};

/// Both are the same (S1): the first is B's, the second D's.
pub(super) const PREFIXES: [&str; 2] = ["/v1", "/api"];

/// What the routes share.
pub(crate) struct Api {
    pub(crate) protocol: Arc<Protocol>,
    pub(crate) access: Access,
    pub(crate) forms: Forms,
    /// Without one there are no webhooks.
    pub(crate) receiver: Option<Receiver>,
    /// Asks the store how much there is.
    pub(crate) surveyor: Surveyor,
}

/// The routes of one gateway. They are the same for every one and are made once: that is dear, and a simulation begins
/// gateways all the time. What is not the same comes with each request.
#[derive(Clone)]
pub(crate) struct Site {
    api: Arc<Api>,
}

impl Site {
    pub(crate) fn new(api: Api) -> Self {
        Self { api: Arc::new(api) }
    }

    /// The same routes as a router of their own, for what stands before them.
    pub(crate) fn router(self) -> Router {
        routes().layer(Extension(self.api))
    }
}

impl<B> Service<http::Request<B>> for Site
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = TowerToHyperServiceFuture<Router, http::Request<B>>;

    fn call(&self, mut request: http::Request<B>) -> Self::Future {
        static ROUTES: LazyLock<Router> = LazyLock::new(routes);
        request.extensions_mut().insert(self.api.clone());
        TowerToHyperService::new(ROUTES.clone()).call(request)
    }
}

/// `POST {prefix}/instances/{id}/{route}` for each of the seven routes, and `POST {prefix}/instances`.
fn routes() -> Router {
    let mut router = Router::new().merge(status::routes()).merge(admin::routes()).merge(watch::routes());
    router = router.merge(inbound::routes());
    for prefix in PREFIXES {
        for route in Route::ALL {
            let send =
                move |api: Extension<Arc<Api>>, id: InPath, request: Request| send(api, route, id, request);
            router = router.route(&format!("{prefix}/instances/{{id}}/{}", route.name()), post(send));
        }
        router = router.route(&format!("{prefix}/instances"), post(create));
    }
    let router = router.fallback(no_route).method_not_allowed_fallback(no_method);
    router.layer(middleware::from_fn(latency::measure))
}

type InPath = Result<Path<String>, PathRejection>;

async fn no_route() -> Response<Body> {
    Problem::unknown_route().into_response().map(Body::from)
}

async fn no_method() -> Response<Body> {
    let why = "this route has another method";
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "unknown-method", why);
    problem.into_response().map(Body::from)
}

async fn send(
    Extension(api): Extension<Arc<Api>>,
    route: Route,
    id: InPath,
    request: Request,
) -> Response<Body> {
    // An id that is not text is nobody's.
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let request = api.read_message(route, &id, request).await;
    api.carry_out(request).await
}

async fn create(Extension(api): Extension<Arc<Api>>, request: Request) -> Response<Body> {
    let request = api.read_instance(request).await;
    api.carry_out(request).await
}

impl Api {
    async fn carry_out(&self, request: Result<SendRequest, Problem>) -> Response<Body> {
        let response = match request {
            Ok(request) => self.protocol.clone().send(request).await,
            Err(problem) => problem.into_response(),
        };
        response.map(Body::from)
    }

    async fn read_message(&self, route: Route, id: &str, request: Request) -> Result<SendRequest, Problem> {
        let (head, body) = request.into_parts();
        let phone_number_id = self.access.sender(id, &head.headers)?;
        let slot = self.slot(&head.headers, || format!("{id}/{}", route.name()))?;
        let Content { value, file, fingerprint } = self.read_content(route, &head.headers, body).await?;
        let protocol = &self.protocol;
        let order = route.order(&phone_number_id, &value, file, protocol.policy.text_limit);
        Ok(SendRequest { asker: Asker::Producer, slot, fingerprint, order })
    }

    /// S13: a step of its own, with a key of its own.
    async fn read_instance(&self, request: Request) -> Result<SendRequest, Problem> {
        let (head, body) = request.into_parts();
        self.access.account(&head.headers)?;
        let slot = self.slot(&head.headers, || INSTANCES_SCOPE.to_owned())?;
        let protocol = &self.protocol;
        let content = content::json(&*protocol.world, protocol.policy.body_limit, body).await?;
        let order = message::instance(&content.value);
        let asker = Asker::Producer;
        Ok(SendRequest { asker, slot, fingerprint: content.fingerprint, order })
    }

    /// The key in its scope. Only the header bears a key, never the query string (S3).
    fn slot(&self, headers: &HeaderMap, scope: impl FnOnce() -> String) -> Result<Option<Slot>, Problem> {
        let key = key::from_headers(headers, self.protocol.policy.quoted_keys_only)
            .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "bad-key", error))?;
        Ok(key.map(|key| Slot { scope: scope(), key }))
    }

    async fn read_content(&self, route: Route, headers: &HeaderMap, body: Body) -> Result<Content, Problem> {
        let protocol = &self.protocol;
        match (content::is_form(headers), route.takes_forms()) {
            (false, _) => content::json(&*protocol.world, protocol.policy.body_limit, body).await,
            (true, true) => content::form(&*protocol.world, &self.forms, headers, body).await,
            (true, false) => {
                let why = "this route takes JSON";
                Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-content", why))
            }
        }
    }
}
