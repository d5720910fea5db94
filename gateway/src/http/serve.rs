//! The accept loop.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::{
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};

use super::idle::Activity;
use crate::world::{BoxIo, Listener, SharedWorld};

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
pub async fn serve_on(world: SharedWorld, mut listener: Box<dyn Listener>, router: Router) -> io::Result<()> {
    loop {
        let io = listener.accept().await?;
        world.spawn(Box::pin(serve_connection(world.clone(), io, router.clone())));
    }
}

async fn serve_connection(world: SharedWorld, io: BoxIo, router: Router) {
    let activity = Arc::new(Activity::new());
    let requests = activity.clone();
    let service = service_fn(move |request| {
        let requests = requests.clone();
        let router = TowerToHyperService::new(router.clone());
        async move {
            let _busy = requests.begin();
            router.call(request).await
        }
    });
    let connection = http1::Builder::new()
        // hyper would write a `date` from the real clock, and time out by its own.
        .auto_date_header(false)
        .header_read_timeout(None::<Duration>)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(io), service);
    tokio::select! {
        biased;
        // A broken connection is the peer's to notice.
        _ = connection => {}
        () = activity.idle(&*world) => {}
    }
}
