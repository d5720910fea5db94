//! One readable line for each event that a reader wants to see.

use onceproof_gateway::store::State;

use crate::history::{Entry, Event};

/// The line of an event, or none where it is noise: a point at which nothing struck, a look into the store.
#[must_use]
pub fn line(entry: &Entry) -> Option<String> {
    match &entry.event {
        Event::Request { op, call, attempt, to, key, .. } => {
            let again = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
            let key = key.as_deref().map_or("no key".into(), |key| format!("key {}", short(key)));
            Some(format!("sends {op} to {to} (call {call}{again}, {key})"))
        }
        Event::Response { call, .. } => Some(format!("hears of call {call}: {}", answer(&entry.event))),
        Event::NoResponse { call, reason, .. } => Some(format!("hears nothing of call {call}: {reason}")),
        Event::GaveUp { op } => Some(format!("gives up on {op}: no definite answer")),
        Event::Effect { op, nth, message_id, .. } => {
            Some(format!("EFFECT {nth} of {op}: the message goes out as {message_id}"))
        }
        Event::ProviderAnswer { request, status, replay, scripted, .. } => {
            let what = match (replay, scripted) {
                (true, _) => " (it knows the key: the same answer again)",
                (false, true) => " (the plan says so)",
                (false, false) => "",
            };
            Some(format!("answers request {request} with {status}{what}"))
        }
        Event::LookUp { op, by, status, says } => {
            let said = status.map_or("nothing".into(), |status| status.to_string());
            let says = says.as_deref().map_or(String::new(), |says| format!(" {says}"));
            Some(format!("asks for {op} by its {by}, and hears {said}{says}"))
        }
        Event::Resolve { op, verdict, status, problem } => {
            let said = status.map_or("nothing".into(), |status| status.to_string());
            let problem = problem.as_deref().map_or(String::new(), |problem| format!(" {problem}"));
            Some(format!("as the operator vouches that {op} is {verdict}, and hears {said}{problem}"))
        }
        Event::Query { found, .. } => {
            let says = if *found { "yes" } else { "no" };
            Some(format!("is asked whether it has the message: {says}"))
        }
        Event::Store { .. } => store(&entry.event),
        Event::Point { .. } => None,
        Event::Fault { fault, what, .. } => Some(format!("FAULT {fault} {what}")),
        // A fault that is over as soon as it has struck has said all.
        Event::FaultEnds { what, .. } if what.is_empty() => None,
        Event::FaultEnds { fault, what } => Some(format!("fault {fault} {what}")),
        Event::Start { incarnation: 1 } => None,
        Event::Start { incarnation } => Some(format!("starts again (incarnation {incarnation})")),
        Event::Healed => Some("everything is healed".into()),
        Event::Record { key, state, status, .. } => {
            let status = status.map_or(String::new(), |status| format!(" with {status}"));
            Some(format!("at the end, key {} is {}{status}", short(key), name(*state)))
        }
        Event::End { idle_faults } if idle_faults.is_empty() => None,
        Event::End { idle_faults } => Some(format!("never struck: fault {idle_faults:?}")),
    }
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

/// The first characters of a key, which suffice to tell the few of one run apart.
fn short(key: &str) -> String {
    key.chars().take(6).collect()
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
mod tests {
    use super::time;

    #[test]
    fn times_are_short_near_the_start_and_exact_far_away() {
        assert_eq!(time(31), "+0.031s");
        assert_eq!(time(61_004), "+1m01.004s");
        assert_eq!(time(3_600_000), "+01:00:00.000");
        assert_eq!(time(86_401_027), "+1d 00:00:01.027");
    }
}
