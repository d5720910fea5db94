//! The accept loop.

use std::{convert::Infallible, io, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use http::{Request, Response};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::sync::watch;

use super::idle::Activity;
use crate::{
    shutdown::told,
    world::{BoxIo, Listener, SharedWorld},
};

/// The longest head of a request, in bytes, its line and headers together.
const MAX_HEAD: usize = 32 * 1024;

/// The most headers of a request.
const MAX_HEADERS: usize = 64;

/// Serves a port of this host for ever.
///
/// # Errors
/// What binding or accepting says.
pub async fn serve(world: SharedWorld, port: u16, router: Router) -> io::Result<()> {
    let listener = world.listen(port).await?;
    serve_on(world, listener, router).await
}

/// Serves a bound port for ever.
///
/// # Errors
/// What accepting says.
pub async fn serve_on(world: SharedWorld, listener: Box<dyn Listener>, router: Router) -> io::Result<()> {
    let (_never, stop) = watch::channel(false);
    serve_until(world, listener, router, stop).await
}

/// Serves a bound port until `stop` holds `true`; then takes no more connections, and returns once every request in
/// hand is answered.
///
/// # Errors
/// What accepting says.
pub async fn serve_until(
    world: SharedWorld,
    listener: Box<dyn Listener>,
    router: Router,
    stop: watch::Receiver<bool>,
) -> io::Result<()> {
    serve_site(world, listener, TowerToHyperService::new(router), stop).await
}

/// As [`serve_until`], of whatever answers.
pub(crate) async fn serve_site<S>(
    world: SharedWorld,
    mut listener: Box<dyn Listener>,
    site: S,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
{
    // Each connection holds one receiver, so that it closes with the last of them.
    let connections = watch::Sender::new(());
    loop {
        let io = tokio::select! {
            biased;
            () = told(&mut stop) => break,
            io = listener.accept() => io?,
        };
        let open = connections.subscribe();
        let connection = serve_connection(world.clone(), io, site.clone(), stop.clone());
        world.spawn(Box::pin(async move {
            connection.await;
            drop(open);
        }));
    }
    drop(listener);
    connections.closed().await;
    Ok(())
}

async fn serve_connection<S>(world: SharedWorld, io: BoxIo, site: S, mut stop: watch::Receiver<bool>)
where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
{
    let activity = Arc::new(Activity::new());
    let requests = activity.clone();
    let service = service_fn(move |request| {
        let requests = requests.clone();
        let site = site.clone();
        async move {
            let _busy = requests.begin();
            site.call(request).await
        }
    });
    let connection = http1::Builder::new()
        // hyper would write a `date` from the real clock, and time out by its own.
        .auto_date_header(false)
        .header_read_timeout(None::<Duration>)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(io), service);
    let mut connection = pin!(connection);
    tokio::select! {
        biased;
        // A broken connection is the peer's to notice.
        _ = connection.as_mut() => return,
        () = activity.idle(&*world) => return,
        () = told(&mut stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        _ = connection => {}
        () = activity.idle(&*world) => {}
    }
}
