//! The way from a producer to its gateways.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use http::{Request, Response, header};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::{
    client::{ClientError, Connection},
    key::IDEMPOTENCY_KEY,
    message::INSTANCES_SCOPE,
    world::{BoxFuture, SharedWorld, within},
};

/// One attempt of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Posting {
    /// The order.
    pub order: String,
    /// The number of the step, from 0.
    pub step: usize,
    /// The attempt, from 1 for each step in each life of the producer.
    pub attempt: u32,
    /// The instance that sends; none for the creation of one.
    pub instance: Option<String>,
    /// The canonical route, or `instances`.
    pub route: String,
    /// The idempotency key.
    pub key: String,
    /// The body.
    pub content: Value,
}

/// A question for the status of a key (S11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The order.
    pub order: String,
    /// The number of the step, from 0.
    pub step: usize,
    /// The instance that sends; none for the creation of one.
    pub instance: Option<String>,
    /// The canonical route, or `instances`.
    pub route: String,
    /// The idempotency key.
    pub key: String,
}

/// A way to the gateways.
pub trait Line: Send + Sync + 'static {
    /// Makes one attempt, and no other: retries are the producer's.
    fn post(&self, posting: Posting) -> BoxFuture<Result<Response<Bytes>, ClientError>>;

    /// Asks what became of a key.
    fn ask(&self, question: Question) -> BoxFuture<Result<Response<Bytes>, ClientError>>;
}

/// Where a gateway listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// The bearer tokens of a producer.
#[derive(Clone, Default)]
pub struct Tokens {
    /// By instance.
    pub instances: BTreeMap<String, String>,
    /// The account's, which creates instances and sends through those that it created.
    pub account: String,
}

/// HTTP over the world, one connection for each request.
#[derive(Clone)]
pub struct HttpLine {
    /// This host.
    pub world: SharedWorld,
    /// The gateways, which are asked in turn.
    pub gateways: Vec<Address>,
    /// What it shows them.
    pub tokens: Tokens,
    /// How long one exchange may take.
    pub timeout: Duration,
}

impl HttpLine {
    /// The gateway that this attempt goes to, if there is any.
    #[must_use]
    pub fn gateway(&self, attempt: u32) -> Option<&Address> {
        let turn = attempt.saturating_sub(1) as usize;
        self.gateways.get(turn.checked_rem(self.gateways.len())?)
    }

    fn bearer(&self, instance: Option<&String>) -> String {
        let token = instance.and_then(|instance| self.tokens.instances.get(instance));
        format!("Bearer {}", token.unwrap_or(&self.tokens.account))
    }

    fn exchange(
        &self,
        attempt: u32,
        request: http::Result<Request<Bytes>>,
    ) -> BoxFuture<Result<Response<Bytes>, ClientError>> {
        let (world, timeout) = (self.world.clone(), self.timeout);
        let gateway = self.gateway(attempt).cloned();
        Box::pin(async move {
            let unsendable = |why: String| ClientError::Connect(std::io::Error::other(why));
            let gateway = gateway.ok_or_else(|| unsendable("there is no gateway".into()))?;
            let mut request = request.map_err(|error| unsendable(error.to_string()))?;
            let host = gateway.host.parse().map_err(|_| unsendable("no host name".into()))?;
            request.headers_mut().insert(header::HOST, host);
            let whole = async {
                let connection = Connection::open(&world, &gateway.host, gateway.port, timeout).await?;
                connection.send(request, timeout).await
            };
            within(&*world, timeout, whole).await.unwrap_or(Err(ClientError::Timeout))
        })
    }
}

impl Line for HttpLine {
    fn post(&self, posting: Posting) -> BoxFuture<Result<Response<Bytes>, ClientError>> {
        let path = match &posting.instance {
            Some(instance) => format!("/v1/instances/{}/{}", encode(instance), posting.route),
            None => format!("/v1/{}", posting.route),
        };
        let request = Request::post(path)
            .header(header::AUTHORIZATION, self.bearer(posting.instance.as_ref()))
            .header(header::CONTENT_TYPE, "application/json")
            .header(IDEMPOTENCY_KEY, &posting.key)
            .body(Bytes::from(posting.content.to_string()));
        self.exchange(posting.attempt, request)
    }

    fn ask(&self, question: Question) -> BoxFuture<Result<Response<Bytes>, ClientError>> {
        let account = INSTANCES_SCOPE.split('/').next().unwrap_or_default();
        let instance = question.instance.as_deref().unwrap_or(account);
        let names = [instance, &question.route, &question.key].map(encode);
        let [instance, route, key] = &names;
        let request = Request::get(format!("/v1/instances/{instance}/keys/{route}/{key}/status"))
            .header(header::AUTHORIZATION, self.bearer(question.instance.as_ref()))
            .body(Bytes::new());
        self.exchange(1, request)
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
