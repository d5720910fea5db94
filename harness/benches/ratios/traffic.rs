//! What crossed the wire in a case: the exchanges and frames, with their times and sizes, and nothing of why.

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use onceproof::{plan::Plan, sim::wire::STORE_PORT};

use crate::{
    case::play_as,
    wiretap::{Line, Lines},
};

/// A connection on which something was said.
#[derive(Clone)]
pub struct Talk {
    pub from: String,
    pub to: String,
    pub said: Said,
}

/// What was said on it.
#[derive(Clone)]
pub enum Said {
    /// One request and its answer; connections are not used twice.
    Exchange(Exchange),
    /// Frames on a connection that is kept open.
    Frames(Vec<Frame>),
}

/// A request as it was, and how long its answer's body was: 0 where a fault took the answer.
#[derive(Clone)]
pub struct Exchange {
    pub at_ms: u64,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
    pub answer_bytes: usize,
}

/// A frame and its answer, both without their prefix.
#[derive(Clone)]
pub struct Frame {
    pub at_ms: u64,
    pub bytes: usize,
    pub answer_bytes: usize,
}

/// The traffic of a case with this plan.
pub fn of(plan: &Plan) -> Vec<Talk> {
    let lines = Lines::default();
    play_as(plan, None, |company| lines.tap(company));
    lines.lock().iter().filter(|line| !line.written.is_empty()).map(talk).collect()
}

fn talk(line: &Line) -> Talk {
    let said = match line.port {
        STORE_PORT => Said::Frames(frames(line)),
        _ => Said::Exchange(exchange(line)),
    };
    Talk { from: line.from.clone(), to: line.to.clone(), said }
}

/// A frame is written at once, and the next one only after its answer.
fn frames(line: &Line) -> Vec<Frame> {
    let mut answers = line.read.as_slice();
    let frame = |(at_ms, written): &(u64, Vec<u8>)| {
        let answer_bytes = answers.split_off(..4).map_or(0, |prefix| {
            let length = u32::from_be_bytes(prefix.try_into().expect("a prefix has four bytes")) as usize;
            answers = answers.get(length..).unwrap_or_default();
            length
        });
        Frame { at_ms: *at_ms, bytes: written.len() - 4, answer_bytes }
    };
    line.written.iter().map(frame).collect()
}

fn exchange(line: &Line) -> Exchange {
    let written: Vec<u8> = line.written.iter().flat_map(|(_, bytes)| bytes).copied().collect();
    let (head, body) = split(&written);
    let head = String::from_utf8_lossy(head);
    let headers = head.lines().skip(1).filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        Some((name.parse().ok()?, value.parse().ok()?))
    });
    Exchange {
        at_ms: line.opened_ms,
        // The client adds it again.
        headers: headers.filter(|(name, _)| name != http::header::CONTENT_LENGTH).collect(),
        body: Bytes::copy_from_slice(body),
        answer_bytes: split(&line.read).1.len(),
    }
}

/// Head and body.
fn split(message: &[u8]) -> (&[u8], &[u8]) {
    let end = message.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(message.len(), |at| at + 4);
    message.split_at(end)
}
