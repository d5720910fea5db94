//! Where messages begin on a byte stream, so that a fault can take exactly one.
//!
//! A message is one HTTP head with its body, one store frame, or one RESP command or reply. On other ports each
//! segment counts.

use std::ops::ControlFlow;

/// The port that every HTTP server of the simulation listens on.
pub const HTTP_PORT: u16 = 80;
/// The port of the store's wire.
pub const STORE_PORT: u16 = 5432;
/// The port of a store beside another on the same host.
pub const SECOND_STORE_PORT: u16 = 5433;
/// The port of a Redis.
pub const REDIS_PORT: u16 = 6379;

/// What is spoken on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http,
    Frames,
    Resp,
    Unknown,
}

/// One direction of one connection, cut into messages.
#[derive(Debug)]
pub struct Tap {
    protocol: Protocol,
    /// The head of a message, as far as it has come.
    head: Vec<u8>,
    /// Bytes of the message's body that are still to come.
    body_left: usize,
    /// A chunked body, whose end is seen only in its last bytes.
    chunked: bool,
    /// RESP values of the message that are still to come: an array is one message with all that it holds.
    values_left: u64,
}

impl Tap {
    /// A tap on a connection that has `port` at either end.
    #[must_use]
    pub fn new(source_port: u16, destination_port: u16) -> Self {
        let on = |port| source_port == port || destination_port == port;
        let protocol = if on(HTTP_PORT) {
            Protocol::Http
        } else if on(STORE_PORT) || on(SECOND_STORE_PORT) {
            Protocol::Frames
        } else if on(REDIS_PORT) {
            Protocol::Resp
        } else {
            Protocol::Unknown
        };
        Self { protocol, head: Vec::new(), body_left: 0, chunked: false, values_left: 0 }
    }

    /// Takes the next bytes, and tells whether a message begins in them. A segment that ends one message and
    /// begins another belongs to the one that begins.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        if self.protocol == Protocol::Unknown {
            return true;
        }
        let mut begins = false;
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.chunked {
                self.chunked = !rest.ends_with(b"0\r\n\r\n");
                return begins;
            }
            if self.body_left > 0 {
                let taken = self.body_left.min(rest.len());
                self.body_left -= taken;
                rest = &rest[taken..];
                continue;
            }
            begins |= self.head.is_empty() && self.values_left == 0;
            // A RESP message may have thousands of heads, which are cheap to tell apart.
            let head_end = rest.iter().position(|byte| *byte == b'\n' && self.protocol == Protocol::Resp);
            let looked_at = head_end.map_or(rest.len(), |end| end + 1);
            self.head.extend_from_slice(&rest[..looked_at]);
            match self.read_head() {
                ControlFlow::Continue(()) => return begins,
                ControlFlow::Break(head_bytes) => {
                    let from_earlier = self.head.len() - looked_at;
                    rest = &rest[head_bytes - from_earlier..];
                    self.head.clear();
                }
            }
        }
        begins
    }

    /// The length of the head, once it is whole.
    fn read_head(&mut self) -> ControlFlow<usize> {
        match self.protocol {
            Protocol::Frames => match self.head.first_chunk::<4>() {
                Some(length) => {
                    self.body_left = u32::from_be_bytes(*length) as usize;
                    ControlFlow::Break(4)
                }
                None => ControlFlow::Continue(()),
            },
            Protocol::Resp => self.read_resp_head(),
            Protocol::Http | Protocol::Unknown => self.read_http_head(),
        }
    }

    /// One line: a whole value, or the head of an array or of a string. A line of no known kind is a command of its
    /// own, as typed by hand.
    fn read_resp_head(&mut self) -> ControlFlow<usize> {
        if !self.head.ends_with(b"\n") {
            return ControlFlow::Continue(());
        }
        let line = self.head.trim_ascii_end();
        let length = line.get(1..).and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
        let inside = match (line.first(), length) {
            (Some(b'*' | b'~' | b'>'), Some(values)) => values,
            (Some(b'%'), Some(pairs)) => pairs.saturating_mul(2),
            // Attributes stand before the value that they are about.
            (Some(b'|'), Some(pairs)) => pairs.saturating_mul(2).saturating_add(1),
            (Some(b'$' | b'=' | b'!'), Some(bytes)) => {
                self.body_left = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(2);
                0
            }
            _ => 0,
        };
        self.values_left = self.values_left.saturating_sub(1).saturating_add(inside);
        ControlFlow::Break(self.head.len())
    }

    fn read_http_head(&mut self) -> ControlFlow<usize> {
        let Some(end) = self.head.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            return ControlFlow::Continue(());
        };
        for line in self.head[..end].split(|byte| *byte == b'\n') {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if name.eq_ignore_ascii_case(b"content-length") {
                self.body_left = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok()).unwrap_or(0);
            }
            if name.eq_ignore_ascii_case(b"transfer-encoding") {
                self.chunked = value.eq_ignore_ascii_case(b"chunked");
            }
        }
        ControlFlow::Break(end + 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_in_a_second_segment_belongs_to_its_head() {
        let mut tap = Tap::new(50_000, HTTP_PORT);
        assert!(tap.feed(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n"));
        assert!(!tap.feed(b"hello"));
        assert!(tap.feed(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n"));
    }

    #[test]
    fn a_head_in_pieces_begins_once() {
        let mut tap = Tap::new(HTTP_PORT, 50_000);
        assert!(tap.feed(b"HTTP/1.1 200 OK\r\nconte"));
        assert!(!tap.feed(b"nt-length: 2\r\n\r\no"));
        assert!(!tap.feed(b"k"));
        assert!(tap.feed(b"HTTP/1.1 200 OK\r\n\r\n"));
    }

    #[test]
    fn a_chunked_body_ends_with_its_last_chunk() {
        let mut tap = Tap::new(HTTP_PORT, 50_000);
        assert!(tap.feed(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"));
        assert!(!tap.feed(b"2\r\nok\r\n0\r\n\r\n"));
        assert!(tap.feed(b"HTTP/1.1 200 OK\r\n\r\n"));
    }

    #[test]
    fn frames_are_cut_by_their_length() {
        let mut tap = Tap::new(50_000, STORE_PORT);
        assert!(tap.feed(&[0, 0]));
        assert!(!tap.feed(&[0, 3, b'a']));
        assert!(!tap.feed(b"bc"));
        assert!(tap.feed(&[0, 0, 0, 1, b'x', 0, 0, 0, 1, b'y']));
        assert!(tap.feed(&[0, 0, 0, 0]));
    }

    #[test]
    fn a_resp_command_is_one_message_with_all_its_arguments() {
        let mut tap = Tap::new(50_000, REDIS_PORT);
        assert!(tap.feed(b"*3\r\n$3\r\nSET\r"));
        assert!(!tap.feed(b"\n$1\r\nk\r\n$5\r\n"));
        assert!(!tap.feed(b"*1\r\nx\r"));
        assert!(!tap.feed(b"\n"));
        assert!(tap.feed(b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPI"));
        assert!(!tap.feed(b"NG\r\n"));
        assert!(tap.feed(b"PING\r\n"));
        assert!(tap.feed(b"*0\r\n"));
    }

    #[test]
    fn each_resp_reply_is_a_message() {
        let mut tap = Tap::new(REDIS_PORT, 50_000);
        for reply in
            ["+OK\r\n", "$-1\r\n", "*-1\r\n", "_\r\n", ":1\r\n", "-ERR no\r\n", "$0\r\n\r\n", "%0\r\n"]
        {
            assert!(tap.feed(reply.as_bytes()), "{reply:?}");
        }
        assert!(tap.feed(b"*2\r\n*2\r\n+a\r\n,1.5\r\n"));
        assert!(!tap.feed(b"*1\r\n"));
        assert!(!tap.feed(b":7\r\n"));
        assert!(tap.feed(b"%1\r\n+server\r\n"));
        assert!(!tap.feed(b"+redis\r\n"));
        assert!(tap.feed(b"|1\r\n+ttl\r\n:3\r\n"));
        assert!(!tap.feed(b"+value\r\n"));
        assert!(tap.feed(b"+OK\r\n"));
    }

    #[test]
    fn resp_garbage_ends_nowhere_and_breaks_nothing() {
        let mut tap = Tap::new(50_000, REDIS_PORT);
        assert!(tap.feed(b"*18446744073709551615\r\n%18446744073709551615\r\n$18446744073709551615\r\n"));
        assert!(!tap.feed(&[0xff; 70_000]));
        let mut tap = Tap::new(50_000, REDIS_PORT);
        assert!(tap.feed(b"*x\r\n"));
        assert!(tap.feed(&[b'\n', 0, 0xff]));
    }
}
