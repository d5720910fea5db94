//! What all hosts of one run share: the history being written, chance, and the faults waiting for their moment.
//!
//! The stage knows nothing of networks. Programs tell it what they reach; it says which faults strike;
//! an engine applies them. A program that meets a fault is held until the engine has applied it, so that
//! a fault strikes exactly where it is said to.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
    time::{SystemTime, UNIX_EPOCH},
};

use tokio::sync::Notify;

use super::{
    action::{Action, Effects, effects},
    chance::Chance,
    digest::{Kind, RunDigest},
    marker::operation,
};
use crate::{
    history::{Entry, Event},
    plan::{Fault, Message, Scenario},
};

/// Shared by all hosts of one run.
pub struct Stage {
    state: Mutex<State>,
    seed: u64,
    /// The operations of the plan, by whose markers effects and events are known.
    ops: BTreeSet<String>,
    /// Wakes the engine: something was sent, or a fault is due.
    pub kick: Notify,
}

#[derive(Default)]
struct State {
    entries: Vec<Entry>,
    digest: RunDigest,
    line: Vec<u8>,
    chances: BTreeMap<String, Chance>,
    faults: Vec<Waiting>,
    due: BTreeMap<(u64, u64), Due>,
    dues: u64,
    strikes: u64,
    applied: u64,
    held: Vec<Waker>,
    points: BTreeMap<(String, &'static str), u32>,
    points_anywhere: BTreeMap<&'static str, u32>,
    effects: BTreeMap<String, u32>,
    messages: BTreeMap<(String, String), u32>,
    calls: u32,
    steps_left: usize,
    finished: bool,
    healed: bool,
    spoilt: bool,
}

/// A fault of the plan and whether it has struck.
struct Waiting {
    number: u32,
    fault: Fault,
    effects: Effects,
    struck: bool,
    ended: bool,
}

/// Something that an engine must do now.
#[derive(Debug, Clone)]
pub struct Due {
    /// Number of the fault in the plan, from 1.
    fault: u32,
    /// What to do.
    pub actions: Vec<Action>,
    ends: bool,
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes its way.
    Passes,
    /// It never arrives.
    Lost,
    /// It takes this much longer, in milliseconds.
    Late(u64),
}

/// Ready when every fault that has struck so far has been applied.
pub struct Held {
    stage: Arc<Stage>,
    strikes: u64,
}

impl Future for Held {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.stage.lock();
        if state.applied >= self.strikes {
            return Poll::Ready(());
        }
        state.held.push(context.waker().clone());
        Poll::Pending
    }
}

impl Stage {
    /// The stage of one run of `scenario`.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64) -> Arc<Self> {
        let mut state = State { steps_left: scenario.steps.len(), ..State::default() };
        for (fault, number) in scenario.faults.iter().zip(1..) {
            if let Some(at) = fault.at {
                state.schedule(at.ms() + BOOT_MS, Due { fault: number, actions: Vec::new(), ends: false });
            }
            let waiting = Waiting {
                number,
                fault: fault.clone(),
                effects: effects(fault),
                struck: false,
                ended: false,
            };
            state.faults.push(waiting);
        }
        Arc::new(Self { state: Mutex::new(state), seed, ops: scenario.ops(), kick: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic on the stage ends the run")
    }

    /// The faults of the plan, for an engine to see whether it can play them.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        self.lock().faults.iter().map(|waiting| waiting.fault.clone()).collect()
    }

    /// Writes an event into the history.
    pub fn record(&self, at_ms: u64, host: &str, event: Event) {
        self.lock().record(at_ms, host, event);
    }

    /// Adds something to the digest that the history does not show.
    pub fn digest(&self, kind: Kind, pieces: &[&[u8]]) {
        self.lock().digest.add(kind, pieces);
    }

    /// Mixes real time into every draw, so that a check of determinism has something to find.
    pub fn spoil_chance(&self, spoilt: bool) {
        self.lock().spoilt = spoilt;
    }

    /// Fills `bytes` from the stream of `actor`.
    pub fn fill_random(&self, actor: &str, bytes: &mut [u8]) {
        let mut state = self.lock();
        if !state.chances.contains_key(actor) {
            state.chances.insert(actor.into(), Chance::new(self.seed, actor));
        }
        if let Some(chance) = state.chances.get_mut(actor) {
            chance.fill(bytes);
        }
        if let (true, Some(byte)) = (state.spoilt, bytes.first_mut()) {
            *byte ^= SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_nanos() as u8);
        }
        state.digest.add(Kind::Draw, &[actor.as_bytes(), bytes]);
    }

    /// A program has reached a named point.
    pub fn reach(self: &Arc<Self>, at_ms: u64, host: &str, point: &'static str) -> Held {
        let mut state = self.lock();
        let here = count(&mut state.points, (host.into(), point));
        let anywhere = count(&mut state.points_anywhere, point);
        state.record(at_ms, host, Event::Point { point: point.into(), nth: here });
        self.strike(state, at_ms, |fault| {
            fault.when.as_ref().is_some_and(|when| {
                let nth = if when.host.is_some() { here } else { anywhere };
                when.point.as_deref() == Some(point)
                    && when.host.as_deref().is_none_or(|wanted| wanted == host)
                    && when.nth.unwrap_or(1) == nth
            })
        })
    }

    /// The provider has acted.
    pub fn effect(
        self: &Arc<Self>,
        at_ms: u64,
        host: &str,
        op: &str,
        reference: Option<String>,
        message_id: String,
    ) -> Held {
        let mut state = self.lock();
        let nth = count(&mut state.effects, op.into());
        state.record(at_ms, host, Event::Effect { op: op.into(), nth, reference, message_id });
        self.strike(state, at_ms, |fault| {
            fault
                .when
                .as_ref()
                .is_some_and(|when| when.effect.as_deref() == Some(op) && when.nth.unwrap_or(1) == nth)
        })
    }

    /// A message is put on the wire. Faults that wait for it are due from here on.
    pub fn message(self: &Arc<Self>, at_ms: u64, from: &str, to: &str) -> Fate {
        let mut state = self.lock();
        let nth = count(&mut state.messages, (from.into(), to.into()));
        let is_this = |message: &Option<Message>| {
            message.as_ref().is_some_and(|m| m.from == from && m.to == to && m.nth == nth)
        };
        let mut fate = Fate::Passes;
        for index in 0..state.faults.len() {
            let fault = &state.faults[index].fault;
            let (lost, late) = (is_this(&fault.lose), is_this(&fault.delay));
            let triggered = fault.when.as_ref().is_some_and(|when| is_this(&when.message));
            if !(lost || late || triggered) || state.healed || state.faults[index].struck {
                continue;
            }
            if lost {
                fate = Fate::Lost;
            } else if let (true, Some(by)) = (late, fault.by) {
                fate = Fate::Late(by.ms());
            }
            state.strike(index, at_ms);
        }
        fate
    }

    fn strike(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        at_ms: u64,
        meant: impl Fn(&Fault) -> bool,
    ) -> Held {
        let mut strikes = 0;
        for index in 0..state.faults.len() {
            let waiting = &state.faults[index];
            if !waiting.struck && !state.healed && meant(&waiting.fault) {
                state.strike(index, at_ms);
                strikes = state.strikes;
            }
        }
        drop(state);
        if strikes > 0 {
            self.kick.notify_one();
        }
        Held { stage: Arc::clone(self), strikes }
    }

    /// The next thing that an engine must do by `now_ms`.
    pub fn due(&self, now_ms: u64) -> Option<Due> {
        let mut state = self.lock();
        let (&(at_ms, order), _) = state.due.first_key_value().filter(|((at_ms, _), _)| *at_ms <= now_ms)?;
        let due = state.due.remove(&(at_ms, order))?;
        let index = due.fault as usize - 1;
        if due.ends {
            state.end(index, now_ms);
        } else if due.actions.is_empty() && !state.faults[index].struck {
            // Its time has come: striking schedules what it does.
            state.strike(index, now_ms);
        }
        Some(due)
    }

    /// When the next thing is due, in milliseconds since the run began.
    pub fn next_due_ms(&self) -> Option<u64> {
        self.lock().due.first_key_value().map(|((at_ms, _), _)| *at_ms)
    }

    /// All that was due has been applied: whoever was held goes on.
    pub fn applied(&self) {
        let mut state = self.lock();
        state.applied = state.strikes;
        for waker in std::mem::take(&mut state.held) {
            waker.wake();
        }
    }

    /// The operation whose marker the content bears, or `unmarked`.
    pub fn operation<'a>(&'a self, content: &str) -> &'a str {
        operation(&self.ops, content)
    }

    /// How many messages each host has sent to each other.
    #[must_use]
    pub fn messages(&self) -> BTreeMap<(String, String), u32> {
        self.lock().messages.clone()
    }

    /// Numbers a request, from 1, whoever makes it: an answer is known by the number.
    pub fn next_call(&self) -> u32 {
        let mut state = self.lock();
        state.calls += 1;
        state.calls
    }

    /// One of the plan's steps is done, whoever did it. After the last the run finishes.
    pub fn step_done(&self) {
        let mut state = self.lock();
        state.steps_left = state.steps_left.saturating_sub(1);
        let is_last = state.steps_left == 0;
        drop(state);
        if is_last {
            self.finish();
        }
    }

    /// All steps are done.
    pub fn finish(&self) {
        self.lock().finished = true;
        self.kick.notify_one();
    }

    /// Whether all steps are done and no fault is about to end by itself.
    pub fn quiet(&self) -> bool {
        let state = self.lock();
        state.finished && state.due.is_empty()
    }

    /// Ends every fault that has not ended; from here on none strikes. Gives what the engine must do.
    pub fn heal(&self, now_ms: u64) -> Vec<Action> {
        let mut state = self.lock();
        let mut actions = Vec::new();
        for index in 0..state.faults.len() {
            if state.faults[index].struck && !state.faults[index].ended {
                actions.extend(state.faults[index].effects.end.clone());
                state.end(index, now_ms);
            }
        }
        state.healed = true;
        state.record(now_ms, HARNESS, Event::Healed);
        actions
    }

    /// Closes the history: the faults that never struck, all entries, the digest.
    pub fn close(&self, now_ms: u64) -> (Vec<Entry>, String) {
        let mut state = self.lock();
        let idle_faults = state.faults.iter().filter(|f| !f.struck).map(|f| f.number).collect();
        state.record(now_ms, HARNESS, Event::End { idle_faults });
        (std::mem::take(&mut state.entries), std::mem::take(&mut state.digest).finish())
    }
}

/// The host name of what the run itself does.
pub const HARNESS: &str = "harness";

/// Steps and timed faults count from here: the hosts have had this long to start.
pub const BOOT_MS: u64 = 20;

impl State {
    fn record(&mut self, at_ms: u64, host: &str, event: Event) {
        let entry = Entry { at_ms, host: host.into(), event };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &entry).expect("an event is plain data");
        self.digest.add(Kind::Event, &[&self.line]);
        self.entries.push(entry);
    }

    fn schedule(&mut self, at_ms: u64, due: Due) {
        self.dues += 1;
        self.due.insert((at_ms, self.dues), due);
    }

    fn strike(&mut self, index: usize, now_ms: u64) {
        let waiting = &mut self.faults[index];
        waiting.struck = true;
        let number = waiting.number;
        let effects = waiting.effects.clone();
        self.strikes += 1;
        let event = Event::Fault {
            fault: number,
            kind: effects.kind.into(),
            what: effects.what,
            hosts: effects.hosts,
        };
        self.record(now_ms, HARNESS, event);
        if !effects.begin.is_empty() {
            self.schedule(now_ms, Due { fault: number, actions: effects.begin, ends: false });
        }
        if let Some(after_ms) = effects.end_after_ms {
            self.schedule(now_ms + after_ms, Due { fault: number, actions: effects.end, ends: true });
        }
    }

    fn end(&mut self, index: usize, now_ms: u64) {
        let waiting = &mut self.faults[index];
        waiting.ended = true;
        let event = Event::FaultEnds { fault: waiting.number, what: waiting.effects.what_ends.clone() };
        self.record(now_ms, HARNESS, event);
    }
}

fn count<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K) -> u32 {
    let n = counts.entry(key).or_default();
    *n += 1;
    *n
}
