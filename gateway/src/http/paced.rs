//! A body that hands out one chunk at a time, and no more than it is allowed: the form's parser would else buffer
//! whatever is ready, and a header without an end for ever.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures::Stream;

/// How many bytes may still arrive before the parser has to come to something.
#[derive(Debug, Clone, Default)]
pub(super) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    pub(super) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

/// The paced body.
pub(super) struct Paced {
    body: BodyDataStream,
    allowance: Allowance,
    has_just_given: bool,
}

impl Paced {
    pub(super) fn new(body: Body, allowance: Allowance) -> Self {
        Self { body: body.into_data_stream(), allowance, has_just_given: false }
    }
}

impl Stream for Paced {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.has_just_given) {
            // The chunk is looked at before the next one comes.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let left = self.allowance.0.load(Ordering::Relaxed);
        if left == 0 {
            return Poll::Ready(Some(Err(io::Error::other("more than this part may have"))));
        }
        let polled = Pin::new(&mut self.body).poll_next(context).map_err(io::Error::other);
        if let Poll::Ready(Some(Ok(chunk))) = &polled {
            self.has_just_given = true;
            self.allowance.set(left.saturating_sub(chunk.len() as u64));
        }
        polled
    }
}
