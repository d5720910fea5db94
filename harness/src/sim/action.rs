//! What an engine is told to do to the world, and how a plan's faults become that.

use super::{actors::redis::HOST as REDIS, cast::DATABASE};
use crate::plan::{CutMode, Fault, Link, Span};

/// One change of the world. Changing what is already so is nothing: a dead host is not killed again.
#[derive(Debug, Clone, PartialEq)]
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
    /// Messages from one host to another take longer, by so many milliseconds.
    Slow {
        /// The host that sends.
        from: String,
        /// The host that receives.
        to: String,
        /// How much longer; 0 is as fast as before.
        by_ms: u64,
    },
    /// A host's wall clock is off.
    SetClock {
        /// The host.
        host: String,
        /// By how much; less than nothing is behind.
        offset_ms: i64,
    },
    /// Something changes behind the network.
    Change(Change),
}

/// What changes behind the network: in the programs and what they keep.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The database forgets so many of its last commits.
    LoseCommits(u32),
    /// Redis loses its memory, or a part of it, or takes no more.
    Redis(RedisLoss),
    /// From its next start on, a gateway runs with these policy fields.
    Upgrade {
        /// The host.
        host: String,
        /// The fields.
        policy: toml::Table,
    },
}

/// How a Redis lets down whoever trusts it.
#[derive(Debug, Clone, PartialEq)]
pub enum RedisLoss {
    /// It loses everything.
    Everything,
    /// It loses the keys that fit this pattern.
    Keys(String),
    /// It loses the writes of the last so many milliseconds.
    LastMs(u64),
    /// It loses what a replica that is so many milliseconds behind has not heard of, and its connections.
    ToReplicaMs(u64),
    /// It takes nothing that needs memory, or does again.
    Writes {
        /// Whether it refuses.
        refused: bool,
    },
}

/// How a fault begins and ends.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    /// The kind of fault, as plans spell it.
    pub kind: &'static str,
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
    let heal_ms = fault.heal.map(|span| span.ms());
    if let Some(link) = &fault.cut {
        return cut(link, fault);
    }
    if let (Some(link), Some(by)) = (&fault.slow, fault.by) {
        return slow(link, by, heal_ms);
    }
    if let Some(host) = &fault.crash {
        return crash(host, fault);
    }
    if let Some(host) = &fault.freeze {
        return on_host(
            host,
            (Action::Freeze(host.clone()), Action::Thaw(host.clone())),
            fault.thaw.map(|span| span.ms()),
            ("freeze", format!("freezes {host}"), format!("thaws {host}")),
        );
    }
    if let Some(host) = &fault.refuse {
        return on_host(
            host,
            (Action::Refuse(host.clone()), Action::Admit(host.clone())),
            heal_ms,
            (
                "refuse",
                format!("refuses connections to {host}"),
                format!("takes connections to {host} again"),
            ),
        );
    }
    if let (Some(host), Some(offset)) = (&fault.clock, fault.offset) {
        let set = |offset_ms| Action::SetClock { host: host.clone(), offset_ms };
        return on_host(
            host,
            (set(offset.ms()), set(0)),
            heal_ms,
            (
                "clock",
                format!("sets the clock of {host} wrong by {offset}"),
                format!("sets the clock of {host} right"),
            ),
        );
    }
    if let Some(loss) = redis_loss(fault) {
        return loss;
    }
    if let Some(commits) = fault.lose_commits {
        return lose_commits(commits);
    }
    message(fault)
}

fn on_host(
    host: &str,
    (begin, end): (Action, Action),
    end_after_ms: Option<u64>,
    (kind, what, what_ends): (&'static str, String, String),
) -> Effects {
    Effects {
        kind,
        begin: vec![begin],
        end: vec![end],
        end_after_ms,
        what,
        what_ends,
        hosts: vec![host.into()],
    }
}

/// What a fault takes from Redis, if it is one that does.
fn redis_loss(fault: &Fault) -> Option<Effects> {
    let take = |loss| Action::Change(Change::Redis(loss));
    if let Some(host) = &fault.refuse_writes {
        let refuse = |refused| take(RedisLoss::Writes { refused });
        let words = ("refuse_writes", format!("fills {host} up"), format!("makes room in {host}"));
        let ends_ms = fault.heal.map(|span| span.ms());
        return Some(on_host(host, (refuse(true), refuse(false)), ends_ms, words));
    }
    let (kind, loss, what) = if fault.empty.is_some() {
        ("empty", RedisLoss::Everything, "makes redis lose its memory".into())
    } else if let Some(pattern) = &fault.evict {
        let what = format!("makes redis give up the keys that fit {pattern}");
        ("evict", RedisLoss::Keys(pattern.clone()), what)
    } else if let Some(span) = fault.lose_last {
        let what = format!("makes redis die and come back without its last {span}");
        ("lose_last", RedisLoss::LastMs(span.ms()), what)
    } else {
        let lag = fault.fail_over?;
        let what = format!("makes redis fail over to a replica that is {lag} behind");
        ("fail_over", RedisLoss::ToReplicaMs(lag.ms()), what)
    };
    let dies = matches!(loss, RedisLoss::LastMs(_));
    let rebirth = [Action::Kill { host: REDIS.into(), silent: false }, Action::Start(REDIS.into())];
    Some(Effects {
        kind,
        // The loss first: it is counted by the clock of a host that lives.
        begin: std::iter::once(take(loss)).chain(rebirth.into_iter().filter(|_| dies)).collect(),
        end_after_ms: Some(0),
        what,
        hosts: vec![REDIS.into()],
        ..Effects::default()
    })
}

/// The connections of the database are torn, as those of one that fails over are.
fn lose_commits(commits: u32) -> Effects {
    let kill = Action::Kill { host: DATABASE.into(), silent: false };
    Effects {
        kind: "lose_commits",
        begin: vec![kill, Action::Change(Change::LoseCommits(commits)), Action::Start(DATABASE.into())],
        end_after_ms: Some(0),
        what: format!("makes {DATABASE} forget its last {commits} commits"),
        hosts: vec![DATABASE.into()],
        ..Effects::default()
    }
}

fn slow(link: &Link, by: Span, end_after_ms: Option<u64>) -> Effects {
    let set = |from: &String, to: &String, by_ms| Action::Slow { from: from.clone(), to: to.clone(), by_ms };
    let ways = ways(link);
    Effects {
        kind: "slow",
        begin: ways.iter().map(|(from, to)| set(from, to, by.ms())).collect(),
        end: ways.iter().map(|(from, to)| set(from, to, 0)).collect(),
        end_after_ms,
        what: format!("slows {link} down by {by}"),
        what_ends: format!("{link} is as fast as before"),
        hosts: vec![link.from.clone(), link.to.clone()],
    }
}

/// A lost message is over at once; what follows from it is not.
fn message(fault: &Fault) -> Effects {
    if let Some(message) = &fault.lose {
        return Effects {
            kind: "lose",
            end_after_ms: Some(0),
            what: format!("loses message {message}"),
            hosts: vec![message.from.clone(), message.to.clone()],
            ..Effects::default()
        };
    }
    let message = fault.delay.as_ref().expect("a checked fault has an action");
    let by = fault.by.expect("a checked delay says by how much");
    Effects {
        kind: "delay",
        end_after_ms: Some(by.ms()),
        what: format!("delays message {message} by {by}"),
        what_ends: format!("lets message {message} go on"),
        hosts: vec![message.from.clone(), message.to.clone()],
        ..Effects::default()
    }
}

fn ways(link: &Link) -> Vec<(String, String)> {
    let mut ways = vec![(link.from.clone(), link.to.clone())];
    if link.both {
        ways.push((link.to.clone(), link.from.clone()));
    }
    ways
}

fn cut(link: &Link, fault: &Fault) -> Effects {
    let lost = fault.mode == Some(CutMode::Lost);
    let ways = ways(link);
    let to_cut = |(from, to): &(String, String)| Action::Cut { from: from.clone(), to: to.clone(), lost };
    let to_mend = |(from, to): &(String, String)| Action::Mend { from: from.clone(), to: to.clone() };
    Effects {
        kind: "cut",
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
    let upgrade =
        fault.upgrade.clone().map(|policy| Action::Change(Change::Upgrade { host: host.into(), policy }));
    Effects {
        kind: "crash",
        begin: std::iter::once(Action::Kill { host: host.into(), silent }).chain(upgrade).collect(),
        end: vec![Action::Start(host.into())],
        end_after_ms: fault.restart.map(|span| span.ms()),
        what: format!("crashes {host} {how}"),
        what_ends: format!("restarts {host}"),
        hosts: vec![host.into()],
    }
}
