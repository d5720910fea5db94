//! The file format of a history: NDJSON, the header on the first line, then one entry a line.
//!
//! `onceproof check` reads files from anywhere, so a mistake is told with its line and what was expected,
//! and every size has a limit.

use std::io::{BufRead, Read, Write};

use serde_json::Value;

use super::{Entry, Header, History};

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;
/// The longest line that is read, its line feed not counted.
pub const MAX_LINE_BYTES: usize = 1024 * 1024;
/// The most entries that are read.
pub const MAX_ENTRIES: usize = 2_000_000;

/// The events that an entry may be, as the file spells them.
const EVENTS: &[&str] = &[
    "request",
    "response",
    "no-response",
    "gave-up",
    "effect",
    "provider-stalls",
    "provider-answer",
    "look-up",
    "resolve",
    "redrive",
    "redrive-all",
    "query",
    "delivery",
    "delivery-answer",
    "received",
    "job",
    "worker-send",
    "dead-letter",
    "store",
    "point",
    "fault",
    "fault-ends",
    "start",
    "exit",
    "healed",
    "inspected",
    "record",
    "metrics",
    "end",
];

/// Why a history cannot be read: the line, counted from 1, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct ReadError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a line of a history.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The source failed.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// There is nothing to read.
    #[error("the file is empty, expected a header with \"onceproof_history\": {VERSION}")]
    Empty,
    /// A line is longer than [`MAX_LINE_BYTES`].
    #[error("longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// There are more entries than [`MAX_ENTRIES`].
    #[error("more than {MAX_ENTRIES} entries")]
    TooMany,
    /// A line is not a JSON object.
    #[error("not a JSON object: {0}")]
    NotJson(String),
    /// The first line is not a header.
    #[error("not a header: {0}")]
    Header(String),
    /// The header is of another version.
    #[error("version {0}, expected version {VERSION}")]
    Version(Value),
    /// An entry names an event that does not exist.
    #[error("unknown event {0:?}, expected one of {names}", names = EVENTS.join(", "))]
    UnknownEvent(String),
    /// An entry lacks a field or has one of another type.
    #[error("not an entry: {0}")]
    Entry(String),
    /// An entry is earlier than the one before it.
    #[error("at_ms {at_ms} goes back, expected {least} or later")]
    Backwards {
        /// The entry's time.
        at_ms: u64,
        /// The time of the entry before it.
        least: u64,
    },
}

/// Writes a history as NDJSON, in many small writes: hand it a buffered destination.
///
/// # Errors
/// Only what the destination says.
pub fn write(history: &History, mut to: impl Write) -> std::io::Result<()> {
    serde_json::to_writer(&mut to, &history.header)?;
    to.write_all(b"\n")?;
    for entry in &history.entries {
        serde_json::to_writer(&mut to, entry)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// Reads a history; blank lines are skipped.
///
/// # Errors
/// The first line that is no part of a history, and what was expected there.
pub fn read(mut from: impl BufRead) -> Result<History, ReadError> {
    let mut header = None;
    let mut entries: Vec<Entry> = Vec::new();
    let mut line = 0;
    loop {
        line += 1;
        let at_line = |fault| ReadError { line, fault };
        let Some(bytes) = next_line(&mut from).map_err(at_line)? else {
            break;
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        if header.is_none() {
            header = Some(read_header(&bytes).map_err(at_line)?);
        } else {
            let entry = next_entry(&bytes, &entries).map_err(at_line)?;
            entries.push(entry);
        }
    }
    let header = header.ok_or(ReadError { line: 1, fault: Fault::Empty })?;
    Ok(History { header, entries })
}

/// The next line with its line feed, or none at the end; never holds more than the limit in memory.
fn next_line(from: &mut impl BufRead) -> Result<Option<Vec<u8>>, Fault> {
    let mut bytes = Vec::new();
    let limit = MAX_LINE_BYTES as u64 + 1;
    from.by_ref().take(limit).read_until(b'\n', &mut bytes)?;
    if bytes.len() > MAX_LINE_BYTES && bytes.last() != Some(&b'\n') {
        return Err(Fault::TooLong);
    }
    Ok((!bytes.is_empty()).then_some(bytes))
}

fn read_header(bytes: &[u8]) -> Result<Header, Fault> {
    let value = object(bytes)?;
    match value.get("onceproof_history") {
        None => Err(Fault::Header(format!("expected \"onceproof_history\": {VERSION}"))),
        // The version is looked at first: the other fields of another version mean nothing to us.
        Some(found) if *found != VERSION => Err(Fault::Version(found.clone())),
        Some(_) => serde_json::from_value(value).map_err(|error| Fault::Header(error.to_string())),
    }
}

fn next_entry(bytes: &[u8], before: &[Entry]) -> Result<Entry, Fault> {
    if before.len() == MAX_ENTRIES {
        return Err(Fault::TooMany);
    }
    let entry: Entry = serde_json::from_slice(bytes).map_err(|error| diagnose(bytes, &error.to_string()))?;
    let least = before.last().map_or(0, |entry| entry.at_ms);
    let at_ms = entry.at_ms;
    if at_ms < least {
        return Err(Fault::Backwards { at_ms, least });
    }
    Ok(entry)
}

/// Says what is wrong with a line that is no entry. Apart, so that good lines are parsed once.
fn diagnose(bytes: &[u8], error: &str) -> Fault {
    let value = match object(bytes) {
        Ok(value) => value,
        Err(fault) => return fault,
    };
    match value.get("event").and_then(Value::as_str) {
        Some(event) if !EVENTS.contains(&event) => Fault::UnknownEvent(event.to_owned()),
        _ => Fault::Entry(error.to_owned()),
    }
}

fn object(bytes: &[u8]) -> Result<Value, Fault> {
    match serde_json::from_slice(bytes) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(Fault::NotJson("expected {…}".to_owned())),
        Err(error) => Err(Fault::NotJson(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::Build;
    use onceproof_gateway::store::State;

    fn every_event() -> History {
        Build::new()
            .start("gateway-1")
            .request("cart-7", 1, "k1")
            .claim("k1", 1)
            .mark("k1", 1, "ref-1")
            .point("after-dispatch")
            .fault(1, &["gateway-1", "whatsapp"])
            .effect_ref("cart-7", "wamid.1", "ref-1")
            .scripted("cart-7", "ref-1", 500)
            .fault_ends(1)
            .unknown("k1", 1)
            .status(1, 504)
            .at(20_000)
            .request("cart-7", 2, "k1")
            .no_response(2)
            .gave_up("cart-7")
            .event("gateway-1", crate::history::Event::Exit)
            .healed()
            .event("harness", crate::history::Event::Inspected)
            .look_up("cart-7", 200, "unknown")
            .query("ref-1", false)
            .stalls("cart-7", "ref-1", 50_000)
            .resolve("cart-7", "sent", 200)
            .delivery("event-1", 3)
            .acknowledged(3)
            .received("event-1")
            .job("event-1", "leased", 1)
            .record("k1", State::Unknown, None)
            .worker_send("event-1", "k1")
            .dead_letter("event-2")
            .redrive("event-2", 200)
            .redrive_all(1, 0)
            .metrics("gateway-1", "onceproof_replays_total", 1)
            .end()
            .history()
    }

    fn text(history: &History) -> String {
        let mut bytes = Vec::new();
        write(history, &mut bytes).expect("a vector takes everything");
        String::from_utf8(bytes).expect("JSON is UTF-8")
    }

    /// The message for the text of a good history in which one piece is replaced.
    fn complaint(from: &str, to: &str) -> String {
        let good = text(&every_event());
        assert!(good.contains(from), "{from} is in the text");
        read(good.replacen(from, to, 1).as_bytes()).expect_err("bad").to_string()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let history = every_event();
        let text = text(&history);
        assert_eq!(read(text.as_bytes()).expect("good"), history);
        assert_eq!(text.lines().count(), history.entries.len() + 1);
    }

    #[test]
    fn every_event_is_named() {
        let history = every_event();
        let mut named: Vec<String> = Vec::new();
        for entry in &history.entries {
            let value = serde_json::to_value(entry).expect("serialises");
            named.push(value["event"].as_str().expect("a name").to_owned());
        }
        named.sort_unstable();
        named.dedup();
        let mut events = EVENTS.to_vec();
        events.sort_unstable();
        assert_eq!(named, events);
    }

    #[test]
    fn an_unknown_event_is_named_with_its_line() {
        let said = complaint("\"effect\"", "\"efect\"");
        assert!(said.starts_with("line 8: unknown event \"efect\", expected one of request, "), "{said}");
    }

    #[test]
    fn a_missing_field_is_named() {
        let said = complaint("\"call\":1,", "");
        assert!(said.starts_with("line 3: not an entry: missing field `call`"), "{said}");
    }

    #[test]
    fn a_field_of_another_type_is_told() {
        let said = complaint("\"call\":1,", "\"call\":-1,");
        assert!(said.starts_with("line 3: not an entry: "), "{said}");
        assert!(said.contains("-1"), "{said}");
    }

    #[test]
    fn another_version_is_refused_before_its_fields_are_read() {
        let said = complaint("\"onceproof_history\":1,", "\"onceproof_history\":2,");
        assert_eq!(said, "line 1: version 2, expected version 1");
        let said = read(&b"{\"onceproof_history\":2}"[..]).expect_err("bad");
        assert_eq!(said.to_string(), "line 1: version 2, expected version 1");
    }

    #[test]
    fn a_file_without_a_header_is_refused() {
        let said = complaint("\"onceproof_history\":1,", "");
        assert_eq!(said, "line 1: not a header: expected \"onceproof_history\": 1");
        let said = read(&b"\n\n"[..]).expect_err("bad").to_string();
        assert!(said.starts_with("line 1: the file is empty"), "{said}");
    }

    #[test]
    fn half_a_line_is_not_an_entry() {
        let good = text(&every_event());
        let said = read(&good.as_bytes()[..good.len() - 5]).expect_err("bad").to_string();
        assert!(said.starts_with("line 33: not a JSON object: "), "{said}");
    }

    #[test]
    fn time_does_not_go_back() {
        let said = complaint("\"at_ms\":20000", "\"at_ms\":20001");
        assert_eq!(said, "line 14: at_ms 20000 goes back, expected 20001 or later");
    }

    #[test]
    fn a_line_over_the_limit_is_refused_and_one_at_the_limit_is_read() {
        let good = text(&every_event());
        let head = good.lines().next().expect("a header");
        let spaces = |bytes: usize| format!("{head}{}\n", " ".repeat(bytes - head.len()));
        assert!(read(spaces(MAX_LINE_BYTES).as_bytes()).is_ok());
        let unended = spaces(MAX_LINE_BYTES);
        assert!(read(unended.trim_end_matches('\n').as_bytes()).is_ok());
        let said = read(spaces(MAX_LINE_BYTES + 1).as_bytes()).expect_err("bad");
        assert_eq!(said.to_string(), "line 1: longer than 1048576 bytes");
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let deep = "[".repeat(MAX_LINE_BYTES - 1);
        let said = read(deep.as_bytes()).expect_err("bad").to_string();
        assert!(said.starts_with("line 1: not a JSON object: "), "{said}");
    }
}
