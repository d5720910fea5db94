//! Histories written by hand, for the tests of what is folded over them.
//!
//! Every step adds exactly one entry, so that a test can count the places of its evidence.

use onceproof_gateway::store::State;

use super::{Ability, Entry, Event, Header, History, Promise, VERSION};

/// The scope of every key here.
pub(crate) const SCOPE: &str = "loja-1/messages/text";
/// One hour.
pub(crate) const HOUR: u64 = 3_600_000;
/// One day.
pub(crate) const DAY: u64 = 24 * HOUR;

/// A history in the making.
pub(crate) struct Build {
    now: u64,
    history: History,
}

impl Build {
    /// The promise of `strict`, an opaque provider, and time zero.
    pub(crate) fn new() -> Self {
        let promise = Promise { ttl_ms: DAY, tombstone_ms: 30 * DAY, event_ms: 30 * DAY };
        let header = Header {
            onceproof_history: VERSION,
            title: "by hand".into(),
            profile: "strict".into(),
            ability: Ability::Opaque,
            seed: 1,
            promise,
            key_retention_ms: None,
        };
        let entries = Vec::new();
        Self { now: 0, history: History { header, entries } }
    }

    pub(crate) fn history(self) -> History {
        self.history
    }

    pub(crate) fn keyed(mut self) -> Self {
        self.history.header.ability = Ability::Keyed;
        self.history.header.key_retention_ms = Some(DAY);
        self
    }

    pub(crate) fn queryable(mut self) -> Self {
        self.history.header.ability = Ability::Queryable;
        self
    }

    /// What follows happens at this time.
    pub(crate) fn at(mut self, ms: u64) -> Self {
        self.now = ms;
        self
    }

    pub(crate) fn event(mut self, host: &str, event: Event) -> Self {
        self.history.entries.push(Entry { at_ms: self.now, host: host.into(), event });
        self
    }

    pub(crate) fn start(self, host: &str) -> Self {
        self.event(host, Event::Start { incarnation: 1 })
    }

    /// What a store did last, this store did.
    pub(crate) fn in_store(mut self, name: &str) -> Self {
        if let Some(Event::Store { store, .. }) = self.history.entries.last_mut().map(|last| &mut last.event)
        {
            *store = name.into();
        }
        self
    }

    /// What was requested last, was requested in this scope.
    pub(crate) fn in_scope(mut self, of: &str) -> Self {
        if let Some(Event::Request { scope, .. }) =
            self.history.entries.last_mut().map(|last| &mut last.event)
        {
            *scope = of.into();
        }
        self
    }

    /// A producer takes an order of one step.
    pub(crate) fn ordered(self, op: &str) -> Self {
        let event = Event::Ordered { op: op.into(), ops: vec![op.into()], known: false };
        self.event("producer", event)
    }

    /// A request with the content that belongs to its operation.
    pub(crate) fn request(self, op: &str, call: u32, key: &str) -> Self {
        self.send(op, call, Some(key), op)
    }

    pub(crate) fn keyless(self, op: &str, call: u32) -> Self {
        self.send(op, call, None, op)
    }

    pub(crate) fn send(self, op: &str, call: u32, key: Option<&str>, content: &str) -> Self {
        let event = Event::Request {
            op: op.into(),
            call,
            attempt: call,
            to: "gateway-1".into(),
            scope: SCOPE.into(),
            key: key.map(Into::into),
            content: content.into(),
            authorized: true,
        };
        self.event("producer", event)
    }

    /// What was requested last, was requested with a token of nobody.
    pub(crate) fn unauthorized(mut self) -> Self {
        if let Some(Event::Request { authorized, .. }) =
            self.history.entries.last_mut().map(|last| &mut last.event)
        {
            *authorized = false;
        }
        self
    }

    /// A first 200 with this message id.
    pub(crate) fn ok(self, call: u32, message: &str) -> Self {
        self.response(call, 200, false, Some(message))
    }

    /// A replayed 200 with this message id.
    pub(crate) fn replay(self, call: u32, message: &str) -> Self {
        self.response(call, 200, true, Some(message))
    }

    /// An answer that is not a success.
    pub(crate) fn status(self, call: u32, status: u16) -> Self {
        self.response(call, status, false, None)
    }

    /// An answer that says what the problem is.
    pub(crate) fn problem(mut self, call: u32, status: u16, of: &str) -> Self {
        self = self.status(call, status);
        if let Some(Event::Response { problem, .. }) =
            self.history.entries.last_mut().map(|last| &mut last.event)
        {
            *problem = Some(of.into());
        }
        self
    }

    /// An answer; status and message id make its digest.
    pub(crate) fn response(self, call: u32, status: u16, replay: bool, message: Option<&str>) -> Self {
        let event = Event::Response {
            op: self.op_of(call),
            call,
            status,
            replay,
            message_id: message.map(Into::into),
            problem: (status == 504).then(|| "outcome-unknown".into()),
            digest: format!("{status} {message:?}"),
        };
        self.event("producer", event)
    }

    pub(crate) fn no_response(self, call: u32) -> Self {
        let event = Event::NoResponse { op: self.op_of(call), call, reason: "timeout".into() };
        self.event("producer", event)
    }

    pub(crate) fn gave_up(self, op: &str) -> Self {
        self.event("producer", Event::GaveUp { op: op.into() })
    }

    /// An effect whose request bore no reference.
    pub(crate) fn effect(self, op: &str, message: &str) -> Self {
        self.acts(op, message, None)
    }

    pub(crate) fn effect_ref(self, op: &str, message: &str, reference: &str) -> Self {
        self.acts(op, message, Some(reference))
    }

    fn acts(self, op: &str, message: &str, reference: Option<&str>) -> Self {
        let nth = self.history.effects().get(op).copied().unwrap_or(0) + 1;
        let event = Event::Effect {
            op: op.into(),
            nth,
            reference: reference.map(Into::into),
            message_id: message.into(),
        };
        self.event("whatsapp", event)
    }

    pub(crate) fn look_up(self, op: &str, status: u16, says: &str) -> Self {
        let (op, by) = (op.into(), "key".into());
        self.event("producer", Event::LookUp { op, by, status: Some(status), says: Some(says.into()) })
    }

    pub(crate) fn resolve(self, op: &str, verdict: &str, status: u16) -> Self {
        let (op, verdict) = (op.into(), verdict.into());
        let problem = (status == 409).then(|| "too-early".into());
        self.event("producer", Event::Resolve { op, verdict, status: Some(status), problem })
    }

    pub(crate) fn redrive(self, op: &str, status: u16) -> Self {
        let (op, status, problem) = (op.into(), Some(status), None);
        self.event("producer", Event::Redrive { op, status, problem })
    }

    pub(crate) fn redrive_all(self, redriven: u32, too_old: u32) -> Self {
        let (filter, problem) = ("all".into(), None);
        self.event("producer", Event::RedriveAll { filter, status: Some(200), redriven, too_old, problem })
    }

    pub(crate) fn query(self, reference: &str, found: bool) -> Self {
        self.event("whatsapp", Event::Query { reference: reference.into(), found })
    }

    pub(crate) fn stalls(self, op: &str, reference: &str, for_ms: u64) -> Self {
        let (op, reference) = (op.into(), Some(reference.into()));
        self.event("whatsapp", Event::ProviderStalls { op, request: 1, reference, for_ms })
    }

    /// The provider answers 200 to a request with this reference and this key.
    pub(crate) fn asked(self, op: &str, reference: Option<&str>, key: Option<&str>) -> Self {
        let event = Event::ProviderAnswer {
            op: op.into(),
            request: 1,
            reference: reference.map(Into::into),
            key: key.map(Into::into),
            status: 200,
            replay: false,
            scripted: false,
        };
        self.event("whatsapp", event)
    }

    /// The provider answers so because the plan says so.
    pub(crate) fn scripted(self, op: &str, reference: &str, status: u16) -> Self {
        let event = Event::ProviderAnswer {
            op: op.into(),
            request: 1,
            reference: Some(reference.into()),
            key: None,
            status,
            replay: false,
            scripted: true,
        };
        self.event("whatsapp", event)
    }

    /// A claim is granted this token.
    pub(crate) fn claim(self, key: &str, granted: i64) -> Self {
        let state = Some(State::Claimed);
        self.store("claim", key, None, Some(granted), "claimed", state, None)
    }

    /// The claim's token is renewed by the fencing write.
    pub(crate) fn fence(self, key: &str, granted: i64) -> Self {
        self.store("fence", key, None, Some(granted), "meets", None, None)
    }

    /// A settle lease is granted this token.
    pub(crate) fn begin_ask(self, key: &str, granted: i64, reference: &str) -> Self {
        let state = Some(State::Unknown);
        let reference = Some(reference);
        self.store("begin-ask", key, None, Some(granted), "ask", state, reference)
    }

    pub(crate) fn mark(self, key: &str, token: i64, reference: &str) -> Self {
        let state = Some(State::Dispatching);
        self.store("mark", key, Some(token), None, "applied", state, Some(reference))
    }

    pub(crate) fn done(self, key: &str, reference: &str) -> Self {
        let state = Some(State::Done);
        self.store("done", key, None, None, "applied", state, Some(reference))
    }

    pub(crate) fn unknown(self, key: &str, token: i64) -> Self {
        let state = Some(State::Unknown);
        self.store("unknown", key, Some(token), None, "applied", state, None)
    }

    pub(crate) fn release(self, key: &str, token: i64) -> Self {
        self.store("release", key, Some(token), None, "applied", None, None)
    }

    #[expect(clippy::too_many_arguments, reason = "an event has that many fields")]
    pub(crate) fn store(
        self,
        command: &str,
        key: &str,
        token: Option<i64>,
        granted: Option<i64>,
        reply: &str,
        state: Option<State>,
        reference: Option<&str>,
    ) -> Self {
        let event = Event::Store {
            store: "database".into(),
            command: command.into(),
            scope: SCOPE.into(),
            key: key.into(),
            token,
            granted,
            reply: reply.into(),
            state,
            reference: reference.map(Into::into),
        };
        self.event("database", event)
    }

    pub(crate) fn point(self, point: &str) -> Self {
        let event = Event::Point { point: point.into(), nth: 1 };
        self.event("gateway-1", event)
    }

    pub(crate) fn fault(self, fault: u32, hosts: &[&str]) -> Self {
        self.strikes(fault, "cut", hosts)
    }

    /// The database loses commits.
    pub(crate) fn loses(self, fault: u32) -> Self {
        self.strikes(fault, "lose_commits", &["database"])
    }

    pub(crate) fn strikes(self, fault: u32, kind: &str, hosts: &[&str]) -> Self {
        let event = Event::Fault {
            fault,
            kind: kind.into(),
            what: "by hand".into(),
            hosts: hosts.iter().map(|host| (*host).into()).collect(),
        };
        self.event("harness", event)
    }

    pub(crate) fn fault_ends(self, fault: u32) -> Self {
        let what = "by hand".into();
        self.event("harness", Event::FaultEnds { fault, what })
    }

    pub(crate) fn healed(self) -> Self {
        self.event("harness", Event::Healed)
    }

    pub(crate) fn record(self, key: &str, state: State, status: Option<u16>) -> Self {
        let event = Event::Record {
            scope: SCOPE.into(),
            key: key.into(),
            state,
            status,
            reference: None,
            overdue_ms: None,
        };
        self.event("database", event)
    }

    /// What was recorded last was due so long ago.
    pub(crate) fn overdue(mut self, ms: u64) -> Self {
        if let Some(Event::Record { overdue_ms, .. }) =
            self.history.entries.last_mut().map(|last| &mut last.event)
        {
            *overdue_ms = Some(ms);
        }
        self
    }

    pub(crate) fn end(self) -> Self {
        self.idle(&[])
    }

    /// A signed delivery of one event.
    pub(crate) fn delivery(self, op: &str, call: u32) -> Self {
        self.delivers(op, &[op], call, true)
    }

    /// A delivery whose signature is missing, wrong, or of other bytes.
    pub(crate) fn unsigned(self, op: &str, call: u32) -> Self {
        self.delivers(op, &[op], call, false)
    }

    pub(crate) fn delivers(self, op: &str, ops: &[&str], call: u32, signed: bool) -> Self {
        let event = Event::Delivery {
            op: op.into(),
            ops: ops.iter().map(|op| (*op).into()).collect(),
            status: None,
            call,
            attempt: 1,
            to: "gateway-1".into(),
            signed,
        };
        self.event("whatsapp", event)
    }

    /// A 200 to a delivery.
    pub(crate) fn acknowledged(self, call: u32) -> Self {
        self.delivery_answer(call, 200)
    }

    pub(crate) fn delivery_answer(self, call: u32, status: u16) -> Self {
        let problem = (status == 400).then(|| "bad-signature".into());
        let event = Event::DeliveryAnswer { op: self.op_of(call), call, status, problem };
        self.event("whatsapp", event)
    }

    /// The store makes one event its own.
    pub(crate) fn received(self, op: &str) -> Self {
        let (store, ops) = ("database".into(), vec![op.into()]);
        self.event("database", Event::Received { store, ops, new: 1, known: 0, dead: 0 })
    }

    /// A worker does this with the row of an event.
    pub(crate) fn job(self, op: &str, what: &str, token: i64) -> Self {
        self.waits("job", op, what, token, None)
    }

    /// A worker leases the row of an event, for this attempt.
    pub(crate) fn attempt(self, op: &str, number: u32) -> Self {
        let mut leased = self.job(op, "leased", number.into());
        if let Some(Event::Job { attempt, .. }) =
            leased.history.entries.last_mut().map(|entry| &mut entry.event)
        {
            *attempt = Some(number);
        }
        leased
    }

    /// A worker does this with the effect of an event, which is sent under a key.
    pub(crate) fn outbox(self, op: &str, what: &str, token: i64, key: &str) -> Self {
        self.waits("outbox", op, what, token, Some(key))
    }

    /// A worker with a queue of its own sends what an event asks for.
    pub(crate) fn worker_send(self, op: &str, key: &str) -> Self {
        let (op, scope, key) = (op.into(), SCOPE.into(), key.into());
        self.event("gateway-1", Event::WorkerSend { op, attempt: 1, scope, key })
    }

    fn waits(self, queue: &str, op: &str, what: &str, token: i64, key: Option<&str>) -> Self {
        let event = Event::Job {
            store: "database".into(),
            op: Some(op.into()),
            queue: queue.into(),
            id: 1,
            what: what.into(),
            attempt: None,
            token: Some(token),
            scope: key.map(|_| SCOPE.into()),
            key: key.map(Into::into),
        };
        self.event("database", event)
    }

    pub(crate) fn dead_letter(self, op: &str) -> Self {
        let why = "by hand".into();
        self.event("harness", Event::DeadLetter { op: op.into(), why })
    }

    /// The run is over, and these faults never struck.
    pub(crate) fn metrics(self, of: &str, name: &str, value: u64) -> Self {
        let values = [(name.to_owned(), value)].into();
        self.event("harness", Event::Metrics { of: of.into(), values })
    }

    pub(crate) fn idle(self, faults: &[u32]) -> Self {
        let idle_faults = faults.to_vec();
        self.event("harness", Event::End { idle_faults })
    }

    /// The operation of an earlier request.
    fn op_of(&self, of: u32) -> String {
        let mut ops = self.history.entries.iter().filter_map(|entry| match &entry.event {
            Event::Request { op, call, .. } | Event::Delivery { op, call, .. } if *call == of => {
                Some(op.clone())
            }
            _ => None,
        });
        ops.next().expect("a response has a request")
    }
}
