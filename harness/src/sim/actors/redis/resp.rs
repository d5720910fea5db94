//! The wire of a Redis: commands in, replies out, both in RESP.

/// The longest string of a command, in bytes.
const MAX_BULK: usize = 1024 * 1024;
/// The most strings of a command.
const MAX_STRINGS: usize = 1024;
/// The longest line that heads something, or that is a command typed by hand.
const MAX_LINE: usize = 64 * 1024;
/// The longest command, in bytes.
const MAX_COMMAND: usize = 8 * 1024 * 1024;

/// A command and its arguments.
pub type Command = Vec<Vec<u8>>;

/// Why a connection cannot go on, as Redis words it.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtocolError(pub String);

impl ProtocolError {
    fn new(what: &str) -> Self {
        Self(format!("ERR Protocol error: {what}"))
    }
}

/// Takes the next whole command off the front of `incoming`, or nothing while it is not all there. An empty command
/// asks for no reply.
///
/// # Errors
/// What comes is no RESP, or is too large.
pub fn take_command(incoming: &mut Vec<u8>) -> Result<Option<Command>, ProtocolError> {
    let mut reader = Reader { bytes: incoming, at: 0 };
    let command = match reader.command()? {
        Some(command) => command,
        None if incoming.len() > MAX_COMMAND => return Err(ProtocolError::new("too big command")),
        None => return Ok(None),
    };
    let taken = reader.at;
    incoming.drain(..taken);
    Ok(Some(command))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn command(&mut self) -> Result<Option<Command>, ProtocolError> {
        match self.bytes.first() {
            None => Ok(None),
            Some(b'*') => self.array(),
            Some(_) => {
                let line = self.line("too big inline request")?;
                Ok(line.map(|line| {
                    let words = line.split(u8::is_ascii_whitespace);
                    words.filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
                }))
            }
        }
    }

    fn array(&mut self) -> Result<Option<Command>, ProtocolError> {
        let Some(head) = self.line("too big mbulk count string")? else { return Ok(None) };
        let strings = match number(&head[1..]) {
            Some(count) if count <= 0 => return Ok(Some(Vec::new())),
            Some(count) if count <= MAX_STRINGS as i64 => count,
            _ => return Err(ProtocolError::new("invalid multibulk length")),
        };
        let mut command = Vec::new();
        for _ in 0..strings {
            let Some(string) = self.bulk()? else { return Ok(None) };
            command.push(string.to_vec());
        }
        Ok(Some(command))
    }

    fn bulk(&mut self) -> Result<Option<&[u8]>, ProtocolError> {
        let Some(head) = self.line("too big bulk count string")? else { return Ok(None) };
        if head.first() != Some(&b'$') {
            let found = head.first().copied().map_or(' ', char::from);
            return Err(ProtocolError::new(&format!("expected '$', got '{found}'")));
        }
        let length = number(&head[1..])
            .and_then(|length| usize::try_from(length).ok())
            .filter(|length| *length <= MAX_BULK)
            .ok_or_else(|| ProtocolError::new("invalid bulk length"))?;
        let from = self.at;
        if self.bytes.len() < from + length + 2 {
            return Ok(None);
        }
        self.at = from + length + 2;
        Ok(Some(&self.bytes[from..from + length]))
    }

    /// The next line without its end.
    fn line(&mut self, too_long: &str) -> Result<Option<&[u8]>, ProtocolError> {
        let rest = &self.bytes[self.at..];
        // Redis looks for the end as C does: what begins with a NUL has none.
        match rest.iter().take(MAX_LINE).position(|byte| matches!(byte, b'\n' | 0)) {
            Some(end) if rest[end] == b'\n' => {
                self.at += end + 1;
                Ok(Some(rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end])))
            }
            _ if rest.len() >= MAX_LINE => Err(ProtocolError::new(too_long)),
            _ => Ok(None),
        }
    }
}

/// An integer in the one spelling that Redis takes for it.
pub fn number(digits: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(digits).ok()?;
    let number = text.parse::<i64>().ok()?;
    (number.to_string() == text).then_some(number)
}

/// What a client of either protocol is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A word, such as `OK`.
    Word(&'static str),
    /// An error, in Redis's own words.
    Error(String),
    /// An integer.
    Number(i64),
    /// A string.
    Bytes(Vec<u8>),
    /// A score.
    Score(f64),
    /// Nothing, where a string could be.
    Nil,
    /// Nothing, where an array could be.
    NilArray,
    /// An array.
    Array(Vec<Reply>),
    /// A map in RESP3, and the flat array of its keys and values in RESP2.
    Map(Vec<(Reply, Reply)>),
    /// An array of pairs in RESP3, and the same array flat in RESP2.
    Pairs(Vec<(Reply, Reply)>),
}

/// The reply of whatever just worked.
pub const OK: Reply = Reply::Word("OK");

/// Which protocol a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Where every connection begins.
    Resp2,
    /// After `HELLO 3`.
    Resp3,
}

impl Reply {
    /// The strings in it, in order.
    pub fn strings(&self) -> Vec<String> {
        match self {
            Self::Bytes(bytes) => vec![String::from_utf8_lossy(bytes).into_owned()],
            Self::Score(score) => vec![score_text(*score)],
            Self::Array(replies) => replies.iter().flat_map(Self::strings).collect(),
            Self::Pairs(pairs) => {
                pairs.iter().flat_map(|(one, other)| [one.strings(), other.strings()].concat()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Appends this reply to `out`.
    pub fn encode(&self, protocol: Protocol, out: &mut Vec<u8>) {
        let resp3 = protocol == Protocol::Resp3;
        match self {
            Self::Word(word) => line(out, '+', word),
            Self::Error(error) => line(out, '-', &error.replace(['\r', '\n'], " ")),
            Self::Number(number) => line(out, ':', &number.to_string()),
            Self::Bytes(bytes) => bulk(out, bytes),
            Self::Score(score) if resp3 => line(out, ',', &score_text(*score)),
            Self::Score(score) => bulk(out, score_text(*score).as_bytes()),
            Self::Nil | Self::NilArray if resp3 => line(out, '_', ""),
            Self::Nil => line(out, '$', "-1"),
            Self::NilArray => line(out, '*', "-1"),
            Self::Array(replies) => {
                line(out, '*', &replies.len().to_string());
                replies.iter().for_each(|reply| reply.encode(protocol, out));
            }
            Self::Map(pairs) | Self::Pairs(pairs) => self.encode_pairs(pairs, protocol, out),
        }
    }

    fn encode_pairs(&self, pairs: &[(Self, Self)], protocol: Protocol, out: &mut Vec<u8>) {
        let map = matches!(self, Self::Map(_));
        match (protocol, map) {
            (Protocol::Resp2, _) => line(out, '*', &(pairs.len() * 2).to_string()),
            (Protocol::Resp3, true) => line(out, '%', &pairs.len().to_string()),
            (Protocol::Resp3, false) => line(out, '*', &pairs.len().to_string()),
        }
        for (first, second) in pairs {
            if protocol == Protocol::Resp3 && !map {
                line(out, '*', "2");
            }
            first.encode(protocol, out);
            second.encode(protocol, out);
        }
    }
}

fn line(out: &mut Vec<u8>, kind: char, text: &str) {
    out.extend_from_slice(format!("{kind}{text}\r\n").as_bytes());
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    line(out, '$', &bytes.len().to_string());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// A score as text: the shortest that reads back as the same number.
fn score_text(score: f64) -> String {
    if score != 0.0 && !(1e-5..1e17).contains(&score.abs()) && score.is_finite() {
        let text = format!("{score:e}");
        return if score.abs() > 1.0 { text.replace('e', "e+") } else { text };
    }
    format!("{score}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bytes: &[u8]) -> Result<Option<Command>, String> {
        take_command(&mut bytes.to_vec()).map_err(|error| error.0)
    }

    #[test]
    fn commands_come_in_pieces_and_in_rows() {
        let bytes = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\nget  k\r\n";
        let mut incoming = Vec::new();
        let mut commands = Vec::new();
        for byte in bytes {
            incoming.push(*byte);
            commands.extend(take_command(&mut incoming).unwrap());
        }
        let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Command>();
        assert_eq!(commands, [words(&["GET", "k"]), words(&["PING"]), words(&["get", "k"])]);
        assert!(incoming.is_empty());
    }

    #[test]
    fn what_is_no_resp_is_refused_in_redis_own_words() {
        let refused = |bytes: &[u8]| taken(bytes).unwrap_err();
        assert_eq!(refused(b"*x\r\n"), "ERR Protocol error: invalid multibulk length");
        assert_eq!(refused(b"*1025\r\n"), "ERR Protocol error: invalid multibulk length");
        assert_eq!(refused(b"*1\r\n+OK\r\n"), "ERR Protocol error: expected '$', got '+'");
        assert_eq!(refused(b"*1\r\n$-1\r\n"), "ERR Protocol error: invalid bulk length");
        assert_eq!(refused(b"*1\r\n$1048577\r\n"), "ERR Protocol error: invalid bulk length");
        assert_eq!(refused(&[0xff; MAX_LINE]), "ERR Protocol error: too big inline request");
        assert_eq!(taken(b"*-1\r\n"), Ok(Some(Vec::new())));
        assert_eq!(taken(b"\r\n"), Ok(Some(Vec::new())));
        assert_eq!(taken(b"*1024\r\n"), Ok(None));
    }

    #[test]
    fn scores_read_back_as_they_were() {
        for score in [0.0, 1.5, -3.0, 1e300, 1e-300, 1e16, 123_456.789, f64::MIN_POSITIVE] {
            assert_eq!(score_text(score).parse(), Ok(score), "{}", score_text(score));
        }
        assert_eq!(score_text(1e20), "1e+20");
        assert_eq!(score_text(f64::NEG_INFINITY), "-inf");
    }
}
