//! What an engine is told to do to the world, and how a plan's faults become that.

use crate::plan::{CutMode, Fault, Link};

/// One change of the world. Changing what is already so is nothing: a dead host is not killed again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Nothing passes from one host to another.
    Cut {
        /// The host that sends.
        from: String,
        /// The host that receives.
        to: String,
        /// Whether packets are gone for good, instead of held until the cut is mended.
        lost: bool,
    },
    /// Packets pass again; the held ones arrive; connections that lost one are reset.
    Mend {
        /// The host that sends.
        from: String,
        /// The host that receives.
        to: String,
    },
    /// The process dies with all its memory.
    Kill {
        /// The host.
        host: String,
        /// Whether nobody is told: no FIN, no RST, and connecting hangs.
        silent: bool,
    },
    /// A process starts, if none runs.
    Start(String),
    /// The host runs nothing until it thaws; its connections stay open.
    Freeze(String),
    /// The host goes on.
    Thaw(String),
    /// New connections to the host are refused.
    Refuse(String),
    /// New connections are taken again.
    Admit(String),
}

/// How a fault begins and ends.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    /// Done when it strikes.
    pub begin: Vec<Action>,
    /// Done when it ends.
    pub end: Vec<Action>,
    /// When it ends, counted from when it strikes; none means at the heal of everything.
    pub end_after_ms: Option<u64>,
    /// What strikes, in words.
    pub what: String,
    /// What ends, in words.
    pub what_ends: String,
    /// The hosts that it touches.
    pub hosts: Vec<String>,
}

/// What a fault of a plan does.
#[must_use]
pub fn effects(fault: &Fault) -> Effects {
    if let Some(link) = &fault.cut {
        return cut(link, fault);
    }
    if let Some(host) = &fault.crash {
        return crash(host, fault);
    }
    if let Some(host) = &fault.freeze {
        return Effects {
            begin: vec![Action::Freeze(host.clone())],
            end: vec![Action::Thaw(host.clone())],
            end_after_ms: fault.thaw.map(|span| span.ms()),
            what: format!("freezes {host}"),
            what_ends: format!("thaws {host}"),
            hosts: vec![host.clone()],
        };
    }
    if let Some(host) = &fault.refuse {
        return Effects {
            begin: vec![Action::Refuse(host.clone())],
            end: vec![Action::Admit(host.clone())],
            end_after_ms: fault.heal.map(|span| span.ms()),
            what: format!("refuses connections to {host}"),
            what_ends: format!("takes connections to {host} again"),
            hosts: vec![host.clone()],
        };
    }
    if let Some(message) = &fault.lose {
        return Effects {
            what: format!("loses message {message}"),
            hosts: vec![message.from.clone(), message.to.clone()],
            ..Effects::default()
        };
    }
    let message = fault.delay.as_ref().expect("a checked fault has an action");
    let by = fault.by.expect("a checked delay says by how much");
    Effects {
        end_after_ms: Some(by.ms()),
        what: format!("delays message {message} by {by}"),
        what_ends: format!("lets message {message} go on"),
        hosts: vec![message.from.clone(), message.to.clone()],
        ..Effects::default()
    }
}

fn cut(link: &Link, fault: &Fault) -> Effects {
    let lost = fault.mode == Some(CutMode::Lost);
    let mut ways = vec![(link.from.clone(), link.to.clone())];
    if link.both {
        ways.push((link.to.clone(), link.from.clone()));
    }
    let to_cut = |(from, to): &(String, String)| Action::Cut { from: from.clone(), to: to.clone(), lost };
    let to_mend = |(from, to): &(String, String)| Action::Mend { from: from.clone(), to: to.clone() };
    Effects {
        begin: ways.iter().map(to_cut).collect(),
        end: ways.iter().map(to_mend).collect(),
        end_after_ms: fault.heal.map(|span| span.ms()),
        what: format!("cuts {link}, packets {}", if lost { "lost" } else { "held" }),
        what_ends: format!("mends {link}"),
        hosts: vec![link.from.clone(), link.to.clone()],
    }
}

fn crash(host: &str, fault: &Fault) -> Effects {
    let silent = fault.silent == Some(true);
    let how = if silent { "silently: nobody is told" } else { "loudly: its kernel closes its connections" };
    Effects {
        begin: vec![Action::Kill { host: host.into(), silent }],
        end: vec![Action::Start(host.into())],
        end_after_ms: fault.restart.map(|span| span.ms()),
        what: format!("crashes {host} {how}"),
        what_ends: format!("restarts {host}"),
        hosts: vec![host.into()],
    }
}
