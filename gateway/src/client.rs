//! An HTTP client over the world: one connection, one request, no pool, no redirects, no retries.

use std::{io, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited, combinators::UnsyncBoxBody};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;

use crate::world::{SharedWorld, within};

/// The largest response body, in bytes.
pub const MAX_RESPONSE: usize = 1024 * 1024;

/// A request's body, which may come a chunk at a time.
pub type OutgoingBody = UnsyncBoxBody<Bytes, io::Error>;

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No connection was established: nothing was sent.
    #[error("no connection: {0}")]
    Connect(#[source] io::Error),
    /// No connection was established in time: nothing was sent.
    #[error("no connection in time")]
    ConnectTimeout,
    /// The exchange broke off. The request may have arrived.
    #[error("the exchange broke off: {0}")]
    Broken(#[source] hyper::Error),
    /// There was no whole response in time. The request may have arrived.
    #[error("no whole response in time")]
    Timeout,
    /// The response's body is over [`MAX_RESPONSE`]. The request has arrived.
    #[error("the response's body is too large")]
    TooLarge,
}

/// An established connection on which nothing was written yet.
pub struct Connection {
    world: SharedWorld,
    sender: SendRequest<OutgoingBody>,
}

impl Connection {
    /// Connects to `host:port`, for no longer than `limit`. An attempt that is given up is cancelled.
    ///
    /// # Errors
    /// [`ClientError::Connect`] or [`ClientError::ConnectTimeout`].
    pub async fn open(
        world: &SharedWorld,
        host: &str,
        port: u16,
        limit: Duration,
    ) -> Result<Self, ClientError> {
        let io = within(&**world, limit, world.connect(host, port))
            .await
            .ok_or(ClientError::ConnectTimeout)?
            .map_err(ClientError::Connect)?;
        let (sender, driver) = http1::handshake(TokioIo::new(io))
            .await
            .map_err(|error| ClientError::Connect(io::Error::other(error)))?;
        world.spawn(Box::pin(async move {
            // Its failure is the response's failure, which the sender hears of.
            let _ = driver.await;
        }));
        Ok(Self { world: world.clone(), sender })
    }

    /// Sends the request and reads the whole response, for no longer than `limit`. The connection ends with it.
    ///
    /// # Errors
    /// Whatever fails here, the request may have arrived.
    pub async fn send(
        self,
        request: Request<Bytes>,
        limit: Duration,
    ) -> Result<Response<Bytes>, ClientError> {
        let whole = |bytes| Full::new(bytes).map_err(|never| match never {}).boxed_unsync();
        self.send_streamed(request.map(whole), limit).await
    }

    /// As [`Connection::send`], with a body that comes a chunk at a time.
    ///
    /// # Errors
    /// Whatever fails here, the request may have arrived.
    pub async fn send_streamed(
        mut self,
        request: Request<OutgoingBody>,
        limit: Duration,
    ) -> Result<Response<Bytes>, ClientError> {
        let exchange = async {
            let response = self.sender.send_request(request).await.map_err(ClientError::Broken)?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, MAX_RESPONSE).collect().await.map_err(body_error)?;
            Ok(Response::from_parts(head, body.to_bytes()))
        };
        within(&*self.world, limit, exchange).await.unwrap_or(Err(ClientError::Timeout))
    }
}

/// What [`Limited`] fails with is either its own limit or the body's error.
fn body_error(error: Box<dyn std::error::Error + Send + Sync>) -> ClientError {
    error.downcast::<hyper::Error>().map_or(ClientError::TooLarge, |error| ClientError::Broken(*error))
}
