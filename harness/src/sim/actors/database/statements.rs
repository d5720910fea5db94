//! What a transaction looks like in a history, and whether it is one that a database can lose.

use onceproof_gateway::store::{Command, EventReply, Reply, Slot, State, Word};

use crate::history::Event;

/// What a statement looks like in a history: one event for each record that it touched.
pub(super) fn events(store: &str, command: &Command, reply: &Reply) -> Vec<Event> {
    if let Reply::Swept { released, unknown, expired, forgotten } = reply {
        let swept = |slots: &[Slot], what: &str, state| {
            slots.iter().map(|slot| store_event(store, "sweep", slot, what, state)).collect::<Vec<_>>()
        };
        return [
            swept(released, "released", None),
            swept(unknown, "unknown", Some(State::Unknown)),
            swept(expired, "expired", Some(State::Tombstone)),
            swept(forgotten, "forgotten", None),
        ]
        .concat();
    }
    let (name, slot) = match (command, reply) {
        (Command::BeginAsk { .. }, Reply::Ask { slot, .. }) => ("begin-ask", slot),
        (Command::BeginQuery { .. }, Reply::Query { slot, .. }) => ("begin-query", slot),
        _ => match (command_name(command), command.slot()) {
            (name, Some(slot)) => (name, slot),
            _ => return Vec::new(),
        },
    };
    let mut event = store_event(store, name, slot, reply_name(reply), state_after(command, reply));
    if let Event::Store { token, granted, reference, .. } = &mut event {
        *token = command.token();
        *granted = granted_by(command, reply);
        *reference = command.reference().map(str::to_owned);
    }
    vec![event]
}

fn store_event(store: &str, command: &str, slot: &Slot, reply: &str, state: Option<State>) -> Event {
    Event::Store {
        store: store.into(),
        command: command.into(),
        scope: slot.scope.clone(),
        key: slot.key.clone(),
        token: None,
        granted: None,
        reply: reply.into(),
        state,
        reference: None,
    }
}

/// Whether a transaction changed anything that a later one can see.
pub(super) fn changes(command: &Command, reply: &Reply) -> bool {
    match reply {
        Reply::Claimed { .. } | Reply::Applied | Reply::Ask { .. } | Reply::Query { .. } => true,
        Reply::Meets { .. } => matches!(command, Command::Fence { .. }),
        Reply::Swept { released, unknown, expired, forgotten } => {
            [released, unknown, expired, forgotten].iter().any(|slots| !slots.is_empty())
        }
        Reply::Mismatch { .. }
        | Reply::Absent
        | Reply::Fenced { .. }
        | Reply::Found { .. }
        | Reply::TooEarly { .. }
        | Reply::Unknowns { .. }
        | Reply::Counted { .. } => false,
        Reply::Event(reply) => match reply {
            EventReply::Received { new, dead, .. } => new + dead > 0,
            EventReply::Leased { .. } | EventReply::Buried { .. } => true,
            EventReply::Redriven { ready, .. } => *ready > 0,
            EventReply::NotDead | EventReply::TooOld | EventReply::Dead { .. } => false,
        },
    }
}

fn command_name(command: &Command) -> &'static str {
    match command {
        Command::Claim { .. } => "claim",
        Command::Mark { .. } => "mark",
        Command::Done { .. } => "done",
        Command::Unknown { .. } => "unknown",
        Command::Release { .. } => "release",
        Command::Fence { .. } => "fence",
        Command::Read { .. } => "read",
        Command::BeginAsk { .. } => "begin-ask",
        Command::BeginQuery { .. } => "begin-query",
        Command::ReleaseAsked { .. } => "release-asked",
        Command::AskLater { .. } => "ask-later",
        Command::Sweep { .. } => "sweep",
        Command::Find { .. } => "find",
        Command::Resolve { .. } => "resolve",
        Command::ListUnknown { .. } => "list-unknown",
        Command::Census { .. } => "census",
        Command::Event(_) => "event",
    }
}

fn reply_name(reply: &Reply) -> &'static str {
    match reply {
        Reply::Claimed { .. } => "claimed",
        Reply::Mismatch { .. } => "mismatch",
        Reply::Meets { .. } => "meets",
        Reply::Absent => "absent",
        Reply::Applied => "applied",
        Reply::Fenced { .. } => "fenced",
        Reply::Ask { .. } => "ask",
        Reply::Query { .. } => "query",
        Reply::Found { .. } => "found",
        Reply::TooEarly { .. } => "too-early",
        Reply::Unknowns { .. } => "unknowns",
        Reply::Swept { .. } => "swept",
        Reply::Counted { .. } => "counted",
        Reply::Event(_) => "event",
    }
}

fn granted_by(command: &Command, reply: &Reply) -> Option<i64> {
    match (command, reply) {
        (_, Reply::Claimed { token }) => Some(*token),
        // A record that is settled keeps the token that it has.
        (Command::Fence { .. }, Reply::Meets { view })
            if matches!(view.state, State::Claimed | State::Dispatching | State::Unknown) =>
        {
            Some(view.token)
        }
        (_, Reply::Ask { settle_token, .. } | Reply::Query { settle_token, .. }) => Some(*settle_token),
        _ => None,
    }
}

fn state_after(command: &Command, reply: &Reply) -> Option<State> {
    match (command, reply) {
        (_, Reply::Claimed { .. }) => Some(State::Claimed),
        (Command::Mark { .. }, Reply::Applied) => Some(State::Dispatching),
        (Command::Done { .. }, Reply::Applied) => Some(State::Done),
        (Command::Unknown { .. } | Command::AskLater { .. }, Reply::Applied) => Some(State::Unknown),
        (Command::Resolve { word: Word::Sent { .. }, .. }, Reply::Applied) => Some(State::Done),
        (_, Reply::Ask { .. } | Reply::Query { .. } | Reply::TooEarly { .. }) => Some(State::Unknown),
        (_, Reply::Meets { view }) => Some(view.state),
        (_, Reply::Mismatch { state }) => Some(*state),
        (_, Reply::Fenced { view }) => view.as_ref().map(|view| view.state),
        _ => None,
    }
}
