//! One readable line for each event that a reader wants to see.

use onceproof_gateway::store::State;

use crate::history::{Entry, Event};

/// The line of an event, or none where it is noise: a point at which nothing struck, a look into the store.
#[must_use]
pub fn line(entry: &Entry) -> Option<String> {
    shared_line(&[entry])
}

/// The line of events of which each is [`alike`] the first: what they say, said once.
#[must_use]
pub fn shared_line(entries: &[&Entry]) -> Option<String> {
    let (first, last) = (entries.first()?, entries.last()?);
    let text = match &first.event {
        Event::Request { op, attempt, key, authorized, .. } => {
            let token = if *authorized { "" } else { ", no good token" };
            let again = again(*attempt);
            let key = key.as_deref().map_or("no key".into(), |key| format!("key {}", short(key)));
            format!(
                "sends {op} to {} ({}{again}, {key}{token})",
                addressees(entries),
                numbered("call", entries)
            )
        }
        Event::Response { .. } => {
            format!("hears of {}: {}", numbered("call", entries), answer(&first.event))
        }
        Event::NoResponse { reason, .. } => {
            format!("hears nothing of {}: {reason}", numbered("call", entries))
        }
        Event::ProviderAnswer { status, replay, scripted, .. } => {
            let what = match (replay, scripted) {
                (true, _) => " (it knows the key: the same answer again)",
                (false, true) => " (the plan says so)",
                (false, false) => "",
            };
            format!("answers {} with {status}{what}", numbered("request", entries))
        }
        Event::Delivery { op, status, attempt, signed, .. } => {
            let what = status.as_ref().map_or(op.clone(), |status| format!("that {op} is {status}"));
            let again = again(*attempt);
            let how = if *signed { "" } else { ", not signed by the provider" };
            let (to, calls) = (addressees(entries), numbered("call", entries));
            format!("delivers {what} to {to} ({calls}{again}{how})")
        }
        Event::DeliveryAnswer { status, problem, .. } => {
            let said = said(Some(*status), problem.as_deref());
            format!("hears of {}: {said}", numbered("call", entries))
        }
        other => {
            let times = if entries.len() > 1 { format!(", {} times", entries.len()) } else { String::new() };
            lone(other)? + &times
        }
    };
    let until = if last.at_ms > first.at_ms { format!(" until {}", time(last.at_ms)) } else { String::new() };
    Some(printable(&text) + &until)
}

fn again(attempt: u32) -> String {
    if attempt > 1 { format!(", attempt {attempt}") } else { String::new() }
}

/// The line of an event that carries no number of a call.
fn lone(event: &Event) -> Option<String> {
    match event {
        Event::GaveUp { op } => Some(format!("gives up on {op}: no definite answer")),
        Event::Effect { op, nth, message_id, .. } => {
            Some(format!("EFFECT {nth} of {op}: the message goes out as {message_id}"))
        }
        Event::LookUp { op, by, status, says } => {
            Some(format!("asks for {op} by its {by}, and hears {}", said(*status, says.as_deref())))
        }
        Event::Resolve { op, verdict, status, problem } => Some(format!(
            "as the operator vouches that {op} is {verdict}, and hears {}",
            said(*status, problem.as_deref())
        )),
        Event::Redrive { op, status, problem } => {
            Some(format!("as the operator brings {op} back, and hears {}", said(*status, problem.as_deref())))
        }
        Event::ProviderStalls { request, for_ms, .. } => {
            Some(format!("thinks about request {request} for {} s", *for_ms as f64 / 1000.0))
        }
        Event::Query { found, .. } => {
            let says = if *found { "yes" } else { "no" };
            Some(format!("is asked whether it has the message: {says}"))
        }
        Event::Store { .. } => store(event),
        Event::Received { ops, new, known, dead, .. } => {
            // Statuses are of no operation.
            let of = if ops.is_empty() { String::new() } else { format!("{}: ", few(ops)) };
            Some(format!("inbox: {of}{new} new, {known} known, {dead} dead"))
        }
        Event::Job { .. } => job(event),
        Event::WorkerSend { op, attempt, key, .. } => {
            Some(format!("its worker sends for {op}{}, key {}", again(*attempt), short(key)))
        }
        Event::DeadLetter { op, why } => Some(format!("at the end, {op} is a dead letter: {why}")),
        Event::Fault { fault, what, .. } => Some(format!("FAULT {fault} {what}")),
        // A fault that is over as soon as it has struck has said all.
        Event::FaultEnds { what, .. } if what.is_empty() => None,
        Event::FaultEnds { fault, what } => Some(format!("fault {fault} {what}")),
        Event::Start { incarnation } if *incarnation > 1 => {
            Some(format!("starts again (incarnation {incarnation})"))
        }
        Event::Healed => Some("everything is healed".into()),
        Event::Record { key, state, status, .. } => {
            let status = status.map_or(String::new(), |status| format!(" with {status}"));
            Some(format!("at the end, key {} is {}{status}", short(key), name(*state)))
        }
        Event::End { idle_faults } if !idle_faults.is_empty() => Some(never_struck(idle_faults)),
        _ => None,
    }
}

fn said(status: Option<u16>, words: Option<&str>) -> String {
    let status = status.map_or("nothing".into(), |status| status.to_string());
    match words {
        Some(words) => format!("{status} {words}"),
        None => status,
    }
}

fn never_struck(faults: &[u32]) -> String {
    let numbers: Vec<String> = faults.iter().map(u32::to_string).collect();
    let noun = if faults.len() == 1 { "fault" } else { "faults" };
    format!("never struck: {noun} {}", numbers.join(", "))
}

/// The first few of many names.
fn few(names: &[String]) -> String {
    match names {
        [first, second, third, _, ..] => {
            format!("{first}, {second}, {third} and {} more", names.len() - 3)
        }
        few => few.join(", "),
    }
}

/// What was done with a row that waits for a worker; heartbeats are noise while they succeed.
fn job(event: &Event) -> Option<String> {
    let Event::Job { op, queue, id, what, attempt, token, .. } = event else {
        return None;
    };
    if what == "heartbeat" {
        return None;
    }
    let row = format!("{queue} {id}{}", op.as_ref().map_or(String::new(), |op| format!(" of {op}")));
    let attempt = attempt.map_or(String::new(), |attempt| format!(", attempt {attempt}"));
    let token = token.map_or(String::new(), |token| format!(", token {token}"));
    Some(format!("{row}: {what}{attempt}{token}"))
}

/// Whether two events say the same but for the number of their call or the host that they are sent to, so that one
/// line can tell both. Effects are never alike: each one counts.
#[must_use]
pub fn alike(one: &Event, other: &Event) -> bool {
    match (one, other) {
        (
            Event::Request { op, attempt, scope, key, content, .. },
            Event::Request {
                op: op2, attempt: attempt2, scope: scope2, key: key2, content: content2, ..
            },
        ) => (op, attempt, scope, key, content) == (op2, attempt2, scope2, key2, content2),
        (Event::Response { op, .. }, Event::Response { op: op2, .. }) => {
            op == op2 && answer(one) == answer(other)
        }
        (Event::NoResponse { op, reason, .. }, Event::NoResponse { op: op2, reason: reason2, .. }) => {
            (op, reason) == (op2, reason2)
        }
        (
            Event::Delivery { op, status, attempt, signed, .. },
            Event::Delivery { op: op2, status: status2, attempt: attempt2, signed: signed2, .. },
        ) => (op, status, attempt, signed) == (op2, status2, attempt2, signed2),
        (
            Event::DeliveryAnswer { op, status, problem, .. },
            Event::DeliveryAnswer { op: op2, status: status2, problem: problem2, .. },
        ) => (op, status, problem) == (op2, status2, problem2),
        (
            Event::ProviderAnswer { op, status, replay, scripted, .. },
            Event::ProviderAnswer { op: op2, status: status2, replay: replay2, scripted: scripted2, .. },
        ) => (op, status, replay, scripted) == (op2, status2, replay2, scripted2),
        (Event::Store { scope, key, .. }, Event::Store { scope: scope2, key: key2, .. }) => {
            (scope, key) == (scope2, key2) && store(one) == store(other)
        }
        _ => false,
    }
}

fn addressees(entries: &[&Entry]) -> String {
    let mut hosts: Vec<&str> = Vec::new();
    for entry in entries {
        if let Event::Request { to, .. } | Event::Delivery { to, .. } = &entry.event
            && !hosts.contains(&to.as_str())
        {
            hosts.push(to);
        }
    }
    hosts.join(", ")
}

/// `call 7`, `calls 1–20`, `calls 4, 12–14`.
fn numbered(noun: &str, entries: &[&Entry]) -> String {
    let number = |entry: &&Entry| match entry.event {
        Event::Request { call, .. }
        | Event::Response { call, .. }
        | Event::NoResponse { call, .. }
        | Event::Delivery { call, .. }
        | Event::DeliveryAnswer { call, .. } => call,
        Event::ProviderAnswer { request, .. } => request,
        _ => 0,
    };
    let mut numbers: Vec<u32> = entries.iter().map(number).collect();
    numbers.sort_unstable();
    let plural = if numbers.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", ranges(&numbers))
}

/// Sorted numbers, three or more in a row as `first–last`.
fn ranges(numbers: &[u32]) -> String {
    let mut parts = Vec::new();
    for run in numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next)) {
        match run {
            [first, _, .., last] => parts.push(format!("{first}–{last}")),
            few => parts.extend(few.iter().map(u32::to_string)),
        }
    }
    parts.join(", ")
}

/// The text with nothing in it that a terminal would obey: a history may come from anywhere.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char.is_control() {
            true => safe.extend(char.escape_default()),
            false => safe.push(char),
        }
    }
    safe
}

fn answer(event: &Event) -> String {
    let Event::Response { status, replay, message_id, problem, .. } = event else {
        return String::new();
    };
    let replay = if *replay { ", a replay" } else { "" };
    let id = message_id.as_deref().map_or(String::new(), |id| format!(" {id}"));
    let problem = problem.as_deref().map_or(String::new(), |problem| format!(" {problem}"));
    format!("{status}{problem}{id}{replay}")
}

fn store(event: &Event) -> Option<String> {
    let Event::Store { command, key, token, granted, reply, state, .. } = event else {
        return None;
    };
    if command == "read" {
        return None;
    }
    let bears = token.map_or(String::new(), |token| format!(" with token {token}"));
    let gives = granted.map_or(String::new(), |token| format!(", token {token}"));
    let then = match (reply.as_str(), state) {
        ("claimed" | "ask", _) | (_, None) => String::new(),
        (_, Some(state)) => format!(" ({})", name(*state)),
    };
    Some(format!("{command} {}{bears}: {reply}{gives}{then}", short(key)))
}

/// A state's name as it stands in files.
#[must_use]
pub fn name(state: State) -> &'static str {
    match state {
        State::Claimed => "claimed",
        State::Dispatching => "dispatching",
        State::Unknown => "unknown",
        State::Done => "done",
        State::Tombstone => "tombstone",
    }
}

/// A key as people read it: of a digest the first characters, which suffice to tell the few of one run apart;
/// any other key whole, or its two ends.
#[must_use]
pub fn short(key: &str) -> String {
    let chars: Vec<char> = key.chars().collect();
    let is_digest = chars.len() >= 32 && chars.iter().all(char::is_ascii_hexdigit);
    match chars.as_slice() {
        [start @ .., _] if is_digest => start.iter().take(6).collect(),
        [start @ .., _] if chars.len() > 32 => {
            let end: String = chars[chars.len() - 12..].iter().collect();
            format!("{}…{end}", start[..12].iter().collect::<String>())
        }
        _ => key.into(),
    }
}

/// A time of the run as people read it: `+0.031s`, `+1d 00:00:01.027`.
#[must_use]
pub fn time(at_ms: u64) -> String {
    let (days, rest) = (at_ms / 86_400_000, at_ms % 86_400_000);
    let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
    let seconds = rest % 60_000;
    let (seconds, ms) = (seconds / 1_000, seconds % 1_000);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("+{seconds}.{ms:03}s"),
        (0, 0, _) => format!("+{minutes}m{seconds:02}.{ms:03}s"),
        (0, ..) => format!("+{hours:02}:{minutes:02}:{seconds:02}.{ms:03}"),
        _ => format!("+{days}d {hours:02}:{minutes:02}:{seconds:02}.{ms:03}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::history::{History, build::Build};

    /// Of many workers, each sends for the first time.
    pub(in crate::report) fn rush(build: Build) -> History {
        let mut history = build.history();
        for entry in &mut history.entries {
            if let Event::Request { attempt, .. } = &mut entry.event {
                *attempt = 1;
            }
        }
        history
    }

    fn told(build: Build) -> String {
        let entries = rush(build).entries;
        shared_line(&entries.iter().collect::<Vec<_>>()).expect("no noise")
    }

    #[test]
    fn times_are_short_near_the_start_and_exact_far_away() {
        assert_eq!(time(31), "+0.031s");
        assert_eq!(time(61_004), "+1m01.004s");
        assert_eq!(time(3_600_000), "+01:00:00.000");
        assert_eq!(time(86_401_027), "+1d 00:00:01.027");
    }

    #[test]
    fn calls_that_say_the_same_share_a_line() {
        let sent = Build::new().request("a", 1, "k1").request("a", 2, "k1").request("a", 3, "k1");
        let sent = sent.at(31).request("a", 7, "k1");
        assert_eq!(told(sent), "sends a to gateway-1 (calls 1–3, 7, key k1) until +0.031s");
    }

    #[test]
    fn what_differs_in_more_than_the_call_does_not_share_a_line() {
        let build = Build::new()
            .request("a", 1, "k1")
            .request("a", 2, "k1")
            .request("a", 3, "k2")
            .request("b", 4, "k2")
            .ok(1, "m1")
            .ok(2, "m1")
            .ok(3, "m2")
            .effect("a", "m1")
            .effect("a", "m1");
        let entries = rush(build).entries;
        let pairs = entries.windows(2).map(|pair| alike(&pair[0].event, &pair[1].event));
        assert_eq!(
            pairs.collect::<Vec<_>>(),
            [true, false, false, false, true, false, false, false],
            "also effects: each one counts"
        );
    }

    #[test]
    fn a_digest_is_shortened_and_a_spoken_key_is_not() {
        assert_eq!(short("758bba85547a2be83c7ebaa6af2849aa"), "758bba");
        assert_eq!(short("order-8812-confirmation"), "order-8812-confirmation");
        assert_eq!(
            short(&format!("order-8812-{}-confirmation", "x".repeat(40))),
            "order-8812-x…confirmation"
        );
        assert_eq!(short(""), "");
    }

    #[test]
    fn a_terminal_obeys_nothing_of_what_a_history_holds() {
        let line = told(Build::new().request("a\u{1b}[2J", 1, "k1"));
        assert_eq!(line, "sends a\\u{1b}[2J to gateway-1 (call 1, key k1)");
    }
}
