//! What every store must do about events: every command, every fencing condition.

use super::{
    Answer, Census, Command, DeadFilter, DeadLetter, Delivery, Done, Effect, EventCommand, EventKey,
    EventReply, Failure, Item, Queue, Reply, Rows, Slot, Sought, SqliteStore, StatusUpdate, StoredAnswer,
    Ticket, Waiting, Whose, Word, Work,
};

const LEASE_MS: i64 = 30_000;
const SKEW_MS: i64 = 5_000;
const OUT_MS: i64 = LEASE_MS + SKEW_MS;
const KEPT_MS: i64 = 1_000_000;
const ATTEMPTS: u32 = 5;
const FENCED: Reply = Reply::Fenced { view: None };

/// A store, asked at times that the test names.
struct Desk {
    store: SqliteStore,
}

impl Desk {
    fn open() -> Self {
        Self { store: SqliteStore::in_memory().unwrap() }
    }

    fn ask(&mut self, command: EventCommand) -> Reply {
        self.store.execute(&Command::Event(command)).unwrap().reply
    }

    fn receive(&mut self, items: &[Item], now_ms: i64) -> (u32, u32, u32) {
        let expires_ms = now_ms + KEPT_MS;
        let items = items.to_vec();
        match self.ask(EventCommand::Receive { items, now_ms, expires_ms, sweep_every_ms: 1 }) {
            Reply::Event(EventReply::Received { new, known, dead }) => (new, known, dead),
            other => panic!("not received: {other:?}"),
        }
    }

    fn try_lease(&mut self, now_ms: i64) -> Reply {
        let lease_end_ms = now_ms + LEASE_MS;
        self.ask(EventCommand::Lease { now_ms, lease_end_ms, skew_ms: SKEW_MS, attempts: ATTEMPTS })
    }

    fn lease(&mut self, now_ms: i64) -> Option<(Ticket, u32, Work)> {
        match self.try_lease(now_ms) {
            Reply::Event(EventReply::Leased { ticket, attempt, work }) => Some((ticket, attempt, work)),
            Reply::Absent => None,
            other => panic!("not leased: {other:?}"),
        }
    }

    fn ticket(&mut self, now_ms: i64) -> Ticket {
        self.lease(now_ms).expect("something is due").0
    }

    fn heartbeat(&mut self, ticket: Ticket, now_ms: i64) -> Reply {
        let lease_end_ms = now_ms + LEASE_MS;
        self.ask(EventCommand::Heartbeat { ticket, lease_end_ms, skew_ms: SKEW_MS })
    }

    fn complete(&mut self, ticket: Ticket, done: Done) -> Reply {
        self.ask(EventCommand::Complete { ticket, now_ms: 0, expires_ms: KEPT_MS, sweep_every_ms: 1, done })
    }

    fn fail(&mut self, ticket: Ticket, failure: Failure, now_ms: i64) -> Reply {
        let error = "no".to_owned();
        self.ask(EventCommand::Fail { ticket, now_ms, retry_ms: now_ms + 1000, failure, error })
    }

    fn redrive(&mut self, id: i64, now_ms: i64, oldest_ms: i64) -> Reply {
        self.ask(EventCommand::Redrive { id, now_ms, oldest_ms })
    }

    /// How many came back, how many are too old, and whether there are more.
    fn redrive_all(&mut self, filter: DeadFilter, oldest_ms: i64, limit: u32) -> (u32, u32, bool) {
        match self.ask(EventCommand::RedriveAll { filter, now_ms: 1_000, oldest_ms, limit }) {
            Reply::Event(EventReply::Redriven { ready, too_old, is_cut }) => (ready, too_old, is_cut),
            other => panic!("not redriven: {other:?}"),
        }
    }

    /// Id, attempts and time of each dead letter.
    fn dead(&mut self) -> Vec<(i64, u32, i64)> {
        match self.ask(EventCommand::ListDead { filter: DeadFilter::default(), limit: 10 }) {
            Reply::Event(EventReply::Dead { letters, is_cut: false }) => {
                letters.iter().map(|letter| (letter.id, letter.attempts, letter.died_ms)).collect()
            }
            other => panic!("no list: {other:?}"),
        }
    }

    fn rows(&self) -> Vec<Waiting> {
        self.store.waiting().unwrap()
    }

    fn states(&self) -> Vec<(Queue, String)> {
        self.rows().into_iter().map(|row| (row.queue, row.state)).collect()
    }

    /// A row of the outbox, leased at time 0.
    fn sending(&mut self) -> Ticket {
        assert_eq!(self.receive(&[item("1")], 0), (1, 0, 0));
        let job = self.ticket(0);
        let done = Done { effects: vec![effect("e")], status: None };
        assert_eq!(self.complete(job, done), Reply::Applied);
        self.ticket(0)
    }

    /// The send of that effect, dispatched at time 0 under the reference `r`.
    fn dispatch(&mut self) -> i64 {
        let claim = Command::Claim {
            slot: slot(),
            fingerprint: "jcs1:a".into(),
            claim_id: "c".into(),
            now_ms: 0,
            lease_end_ms: LEASE_MS,
            skew_ms: SKEW_MS,
            tombstone_ms: 0,
            admissible: true,
            askable: true,
        };
        let Reply::Claimed { token } = self.store.execute(&claim).unwrap().reply else {
            panic!("not claimed");
        };
        let (reference, request) = ("r".to_owned(), "{}".to_owned());
        let mark =
            Command::Mark { slot: slot(), token, now_ms: 0, lease_end_ms: LEASE_MS, reference, request };
        assert_eq!(self.store.execute(&mark).unwrap().reply, Reply::Applied);
        token
    }

    fn run(&mut self, command: &Command) {
        assert_eq!(self.store.execute(command).unwrap().reply, Reply::Applied);
    }

    /// When the next sweep is due.
    fn sweep(&mut self, now_ms: i64) -> Option<i64> {
        let (askable, sweep_every_ms) = (false, 1);
        let sweep = Command::Sweep { now_ms, skew_ms: SKEW_MS, tombstone_ms: 0, askable, sweep_every_ms };
        self.store.execute(&sweep).unwrap().next_due_ms
    }

    /// How far the message of [`answer`] has come.
    fn delivery(&mut self) -> Option<Delivery> {
        let find = Command::Find {
            sought: Sought::Message { id: "m".into() },
            whose: Whose::Anybodys,
            now_ms: 1,
            skew_ms: SKEW_MS,
            tombstone_ms: 0,
        };
        match self.store.execute(&find).unwrap().reply {
            Reply::Found { delivery, .. } => delivery,
            other => panic!("not found: {other:?}"),
        }
    }

    fn census(&mut self, limit: u32) -> Census {
        match self.store.execute(&Command::Census { now_ms: 3, skew_ms: SKEW_MS, limit }).unwrap().reply {
            Reply::Counted { census } => census,
            other => panic!("not counted: {other:?}"),
        }
    }

    fn due(&mut self) -> Option<i64> {
        let list = Command::Event(EventCommand::ListDead { filter: DeadFilter::default(), limit: 1 });
        self.store.execute(&list).unwrap().next_work_ms
    }
}

fn key(id: &str) -> EventKey {
    EventKey {
        provider: "meta".into(),
        endpoint: "loja-1".into(),
        event_id: id.into(),
        item: "message".into(),
        subscriber: "reply".into(),
    }
}

fn item(id: &str) -> Item {
    Item { key: key(id), payload: "{}".into(), error: None }
}

fn slot() -> Slot {
    Slot { scope: "loja-1/messages/text".into(), key: "domain".into() }
}

fn effect(id: &str) -> Effect {
    Effect { id: id.into(), slot: slot(), content: "{}".into() }
}

fn answer() -> StoredAnswer {
    StoredAnswer { status: 200, headers: Vec::new(), body: "{}".into(), message_id: Some("m".into()) }
}

#[test]
fn an_item_is_new_once_for_each_part_of_its_key_until_it_is_forgotten() {
    let mut desk = Desk::open();
    let others = [
        EventKey { provider: "stripe".into(), ..key("1") },
        EventKey { endpoint: "loja-2".into(), ..key("1") },
        EventKey { item: "status/read".into(), ..key("1") },
        EventKey { subscriber: "crm".into(), ..key("1") },
    ];
    let mut items: Vec<Item> = others.map(|key| Item { key, ..item("1") }).to_vec();
    items.extend([item("1"), item("1")]);
    assert_eq!(desk.receive(&items, 0), (5, 1, 0));
    assert_eq!(desk.receive(&items, KEPT_MS - 1), (0, 6, 0));
    assert_eq!(desk.receive(&[item("1")], KEPT_MS), (1, 0, 0), "expired, and not swept");
    assert_eq!(desk.rows().len(), 6);
}

#[test]
fn the_sweep_forgets_what_has_expired() {
    let mut desk = Desk::open();
    desk.receive(&[item("1")], 0);
    assert_eq!(desk.sweep(KEPT_MS - 1), Some(KEPT_MS));
    assert_eq!(desk.sweep(KEPT_MS), None);
}

#[test]
fn the_sweep_forgets_statuses_that_have_expired() {
    let mut desk = Desk::open();
    // Later than the id of the event, which is forgotten before.
    desk.receive(&[item("1")], -1);
    let job = desk.ticket(0);
    let status = StatusUpdate { message_id: "m".into(), delivery: Delivery::Read };
    desk.complete(job, Done { effects: Vec::new(), status: Some(status) });
    desk.dispatch();
    desk.run(&sent(2 * KEPT_MS));
    assert_eq!(desk.sweep(KEPT_MS - 1), Some(KEPT_MS));
    assert_eq!(desk.delivery(), Some(Delivery::Read));
    assert_eq!(desk.sweep(KEPT_MS), Some(2 * KEPT_MS));
    assert_eq!(desk.delivery(), None);
}

#[test]
fn a_census_counts_each_row_where_it_stands_and_ends_at_its_limit() {
    let mut desk = Desk::open();
    assert_eq!(desk.census(100), Census::default());
    let sending = desk.sending();
    desk.receive(&["2", "3", "4", "5", "6"].map(item), 1);
    let (dead, redriven, parked, _leased) = (desk.ticket(1), desk.ticket(1), desk.ticket(1), desk.ticket(1));
    for ticket in [dead, redriven] {
        desk.fail(ticket, Failure::Bury, 2);
    }
    assert_eq!(desk.redrive(2, 3, 0), Reply::Applied);
    desk.fail(parked, Failure::Park, 2);
    desk.dispatch();
    desk.fail(sending, Failure::Park, 2);
    let rows = |ready, leased, parked, dead| Rows { ready, leased, parked, dead };
    let census = Census { unknown: 0, jobs: rows(2, 1, 1, 1), outbox: rows(0, 0, 1, 0) };
    assert_eq!(desk.census(100), census);
    let bounded = desk.census(1);
    assert_eq!((bounded.jobs.parked, bounded.jobs.dead, bounded.outbox), (1, 1, census.outbox));
    assert_eq!(bounded.jobs.ready + bounded.jobs.leased, 1);
}

#[test]
fn a_cleared_store_is_as_good_as_new() {
    let mut desk = Desk::open();
    let mut lives = Vec::new();
    for _ in 0..2 {
        let sending = desk.sending();
        desk.fail(sending, Failure::Bury, 1);
        lives.push((sending, desk.dead(), desk.rows()));
        desk.store.clear().unwrap();
        assert_eq!(desk.rows(), []);
    }
    assert_eq!(lives[0], lives[1], "ids begin anew");
}

#[test]
fn a_bad_item_is_a_dead_letter_in_the_same_commit_and_only_once() {
    let mut desk = Desk::open();
    let bad = Item { error: Some("no id".into()), ..item("2") };
    let items = [item("1"), bad, item("3")];
    assert_eq!(desk.receive(&items, 7), (2, 0, 1));
    assert_eq!(desk.receive(&items, 8), (0, 3, 0));
    assert_eq!(desk.dead(), [(1, 0, 7)]);
}

#[test]
fn a_row_is_one_workers_until_its_lease_and_the_skew_are_out() {
    let mut desk = Desk::open();
    desk.receive(&[item("1")], 0);
    let (first, attempt, work) = desk.lease(0).unwrap();
    assert_eq!((attempt, work), (1, Work::Job { key: key("1"), payload: "{}".into() }));
    assert_eq!(desk.due(), Some(OUT_MS));
    assert_eq!(desk.lease(OUT_MS - 1), None);
    let (second, attempt, _) = desk.lease(OUT_MS).unwrap();
    assert_eq!((second.id, attempt), (first.id, 2));
    assert!(second.token > first.token);
    for failure in [Failure::Retry { attempts: 1 }, Failure::Postpone, Failure::Park, Failure::Bury] {
        assert_eq!(desk.fail(first, failure, 0), FENCED, "{failure:?}");
    }
    assert_eq!(desk.heartbeat(first, OUT_MS), FENCED);
    let done = Done { effects: vec![effect("late")], status: None };
    assert_eq!(desk.complete(first, done), FENCED);
    assert_eq!(desk.states(), [(Queue::Job, "leased".into())], "a stale worker wrote nothing");
    assert_eq!(desk.complete(second, Done::default()), Reply::Applied);
    assert_eq!(desk.complete(second, Done::default()), FENCED);
    assert_eq!((desk.states(), desk.due()), (vec![], None));
}

#[test]
fn a_heartbeat_prolongs_and_never_shortens() {
    let mut desk = Desk::open();
    desk.receive(&[item("1")], 0);
    let ticket = desk.ticket(0);
    assert_eq!(desk.heartbeat(ticket, 10_000), Reply::Applied);
    assert_eq!(desk.heartbeat(ticket, 5_000), Reply::Applied);
    assert_eq!(desk.due(), Some(10_000 + OUT_MS));
    let other = Ticket { queue: Queue::Outbox, ..ticket };
    assert_eq!(desk.heartbeat(other, 0), FENCED);
}

#[test]
fn effects_are_written_with_the_completion_and_once() {
    let mut desk = Desk::open();
    desk.receive(&[item("1"), item("2")], 0);
    for _ in 0..2 {
        let job = desk.lease(0).unwrap();
        let done = Done { effects: vec![effect("e")], status: None };
        assert_eq!(desk.complete(job.0, done), Reply::Applied);
        if let Some((_, _, Work::Send { effect })) = desk.lease(0) {
            assert_eq!(effect.slot, slot());
        }
    }
    assert_eq!(desk.states(), [(Queue::Outbox, "leased".into())]);
}

#[test]
fn the_last_attempt_makes_a_dead_letter_also_when_its_worker_dies() {
    let mut desk = Desk::open();
    desk.receive(&[item("1")], 0);
    for attempt in 1..=ATTEMPTS {
        let (ticket, counted, _) = desk.lease(i64::from(attempt) * 1000).unwrap();
        assert_eq!((counted, desk.dead()), (attempt, vec![]));
        desk.fail(ticket, Failure::Retry { attempts: ATTEMPTS }, i64::from(attempt - 1) * 1000);
    }
    assert_eq!(desk.dead(), [(1, 5, 4000)]);
    assert_eq!((desk.lease(1_000_000), desk.due()), (None, None));

    let mut desk = Desk::open();
    desk.receive(&[item("1")], 0);
    for attempt in 0..i64::from(ATTEMPTS) {
        desk.ticket(attempt * OUT_MS);
    }
    let buried = Reply::Event(EventReply::Buried { jobs: 1, outbox: 0 });
    assert_eq!(desk.try_lease(5 * OUT_MS), buried, "nothing is leased in the same step");
    assert_eq!(desk.lease(5 * OUT_MS), None);
    assert_eq!(desk.dead(), [(1, 5, 5 * OUT_MS)]);
}

#[test]
fn what_is_postponed_does_not_count_and_what_is_buried_does_not_wait() {
    let mut desk = Desk::open();
    desk.receive(&[item("1")], 0);
    for _ in 0..9 {
        let (ticket, attempt, _) = desk.lease(1000).unwrap();
        assert_eq!(attempt, 1);
        assert_eq!(desk.fail(ticket, Failure::Postpone, 0), Reply::Applied);
    }
    assert_eq!(desk.lease(999), None);
    let ticket = desk.ticket(1000);
    assert_eq!(desk.fail(ticket, Failure::Bury, 5), Reply::Applied);
    assert_eq!(desk.dead(), [(1, 1, 5)]);
}

#[test]
fn a_redrive_is_a_compare_and_set_on_the_same_row_and_not_of_what_is_too_old() {
    let mut desk = Desk::open();
    let sending = desk.sending();
    desk.fail(sending, Failure::Bury, 100);
    assert_eq!(desk.redrive(2, 200, 0), Reply::Absent);
    assert_eq!(desk.redrive(1, 200, 101), Reply::Event(EventReply::TooOld));
    assert_eq!(desk.redrive(1, 200, 100), Reply::Applied);
    assert_eq!(desk.redrive(1, 200, 100), Reply::Event(EventReply::NotDead));
    assert_eq!(desk.dead(), []);
    let (again, attempt, work) = desk.lease(200).unwrap();
    assert_eq!((again.id, attempt, work), (sending.id, 1, Work::Send { effect: effect("e") }));
    assert_eq!(desk.redrive(1, 200, 100), Reply::Event(EventReply::NotDead));
    desk.fail(again, Failure::Bury, 300);
    assert_eq!(desk.dead(), [(1, 1, 100)], "its age does not start anew");
    assert_eq!(desk.redrive(1, 300, 0), Reply::Applied);
    let last = desk.ticket(300);
    assert_eq!(desk.complete(last, Done::default()), Reply::Applied);
    assert_eq!((desk.dead(), desk.redrive(1, 300, 0)), (vec![], Reply::Absent));
}

/// Three bad items of two subscribers, dead at 0, 10 and 20, and a send that was refused at 30.
fn mortuary() -> Desk {
    let mut desk = Desk::open();
    let sending = desk.sending();
    for (died_ms, id, subscriber, error) in
        [(0, "a", "reply", "no id"), (10, "b", "crm", "no id"), (20, "c", "crm", "100%")]
    {
        let key = EventKey { subscriber: subscriber.into(), ..key(id) };
        let bad = Item { key, error: Some(error.into()), ..item(id) };
        assert_eq!(desk.receive(&[bad], died_ms), (0, 0, 1));
    }
    assert_eq!(desk.fail(sending, Failure::Bury, 30), Reply::Applied);
    desk
}

#[test]
fn a_filter_means_what_everything_in_it_is_true_of() {
    let all = DeadFilter::default;
    for (filter, expected) in [
        (all(), vec![0, 10, 20, 30]),
        (DeadFilter { provider: Some("meta".into()), ..all() }, vec![0, 10, 20, 30]),
        (DeadFilter { provider: Some("met".into()), ..all() }, vec![]),
        (DeadFilter { endpoint: Some("loja-2".into()), ..all() }, vec![]),
        (DeadFilter { endpoint: Some("loja-1".into()), ..all() }, vec![0, 10, 20, 30]),
        (DeadFilter { subscriber: Some("reply".into()), ..all() }, vec![0, 30]),
        (DeadFilter { error_contains: Some("no".into()), ..all() }, vec![0, 10, 30]),
        (DeadFilter { error_contains: Some("0%".into()), ..all() }, vec![20]),
        (DeadFilter { error_contains: Some("%".into()), subscriber: Some("reply".into()), ..all() }, vec![]),
        (DeadFilter { died_from_ms: Some(10), ..all() }, vec![10, 20, 30]),
        (DeadFilter { died_from_ms: Some(10), died_before_ms: Some(30), ..all() }, vec![10, 20]),
    ] {
        let mut desk = mortuary();
        let letters = match desk.ask(EventCommand::ListDead { filter: filter.clone(), limit: 10 }) {
            Reply::Event(EventReply::Dead { letters, is_cut: false }) => letters,
            other => panic!("no list: {other:?}"),
        };
        let died: Vec<i64> = letters.iter().map(|letter| letter.died_ms).collect();
        assert_eq!(died, expected, "{filter:?}");
        let found = u32::try_from(expected.len()).unwrap();
        assert_eq!(desk.redrive_all(filter.clone(), 0, 10), (found, 0, false), "{filter:?}");
        assert_eq!(desk.redrive_all(filter, 0, 10), (0, 0, false), "none comes back twice");
        assert_eq!(desk.dead().len(), 4 - expected.len());
    }
}

#[test]
fn a_redrive_of_many_is_bounded_and_what_is_too_old_is_in_nobodys_way() {
    let mut desk = mortuary();
    let all = DeadFilter::default;
    assert_eq!(desk.redrive_all(all(), 10, 2), (2, 1, true));
    assert_eq!(desk.dead().iter().map(|(_, _, died_ms)| *died_ms).collect::<Vec<_>>(), [0, 30]);
    let before = DeadFilter { died_before_ms: Some(5), ..all() };
    assert_eq!(desk.redrive_all(before, 10, 2), (0, 1, false));
    let later = DeadFilter { died_from_ms: Some(30), ..all() };
    assert_eq!(desk.redrive_all(later, 31, 2), (0, 1, false), "died at 30, and that is too old");
    assert_eq!(desk.redrive_all(all(), 10, 2), (1, 1, false));
    // The row of the refused send is the one that it was.
    let rows = desk.rows();
    let row = rows.iter().find(|row| row.queue == Queue::Outbox).unwrap();
    assert_eq!((row.about.as_str(), row.attempts, row.due_ms), ("e", 0, Some(1_000)));
    let leased = std::iter::from_fn(|| desk.lease(1_000)).find_map(|(_, _, work)| match work {
        Work::Send { effect } => Some(effect),
        Work::Job { .. } => None,
    });
    assert_eq!(leased, Some(effect("e")), "with its key");
}

#[test]
fn a_parked_send_wakes_whichever_way_its_record_is_settled() {
    type Way = fn(i64) -> Vec<Command>;
    let unknown = |token| Command::Unknown { slot: slot(), token, now_ms: 0, next_ask_ms: Some(0) };
    let ways: [(&str, Way); 4] = [
        ("done", |_| {
            vec![Command::Done {
                slot: slot(),
                reference: "r".into(),
                now_ms: 1,
                expires_ms: 9,
                sweep_every_ms: 1,
                answer: answer(),
            }]
        }),
        ("release", |token| vec![Command::Release { slot: slot(), token, now_ms: 1 }]),
        ("sent", |_| vec![resolve(Word::Sent { expires_ms: 9, sweep_every_ms: 1, answer: answer() })]),
        ("not sent", |_| vec![resolve(Word::NotSent { dead_after_ms: 0 })]),
    ];
    for (name, way) in ways {
        let mut desk = Desk::open();
        let sending = desk.sending();
        let token = desk.dispatch();
        assert_eq!(desk.fail(sending, Failure::Park, 0), Reply::Applied);
        desk.run(&unknown(token));
        assert_eq!((desk.rows()[0].state.as_str(), desk.due()), ("parked", None), "{name}");
        assert_eq!(desk.rows()[0].attempts, 0);
        way(token).iter().for_each(|command| desk.run(command));
        assert_eq!((desk.rows()[0].state.as_str(), desk.due()), ("ready", Some(0)), "{name}");
    }
}

fn resolve(word: Word) -> Command {
    Command::Resolve { slot: slot(), reference: "r".into(), now_ms: 1, skew_ms: SKEW_MS, word }
}

#[test]
fn a_send_is_not_parked_once_its_record_is_settled_or_gone() {
    let mut desk = Desk::open();
    let sending = desk.sending();
    assert_eq!(desk.fail(sending, Failure::Park, 0), Reply::Applied);
    assert_eq!((desk.rows()[0].state.as_str(), desk.due()), ("ready", Some(1000)));
    assert_eq!(desk.rows()[0].attempts, 0);
}

#[test]
fn an_echo_waits_for_its_record_and_not_for_ever() {
    let mut desk = Desk::open();
    desk.receive(&[item("r"), item("other")], 0);
    for _ in 0..2 {
        let ticket = desk.ticket(0);
        assert_eq!(desk.fail(ticket, Failure::Park, 0), Reply::Applied);
    }
    assert_eq!(desk.due(), Some(1000));
    desk.dispatch();
    let states: Vec<String> = desk.rows().into_iter().map(|row| row.state).collect();
    assert_eq!((states, desk.due()), (vec!["ready".into(), "parked".into()], Some(0)));
    let (ticket, attempt, _) = desk.lease(0).unwrap();
    assert_eq!(attempt, 2);
    assert_eq!(desk.fail(ticket, Failure::Park, 0), Reply::Applied);
    assert_eq!(desk.rows()[0].state, "ready", "its record is there");
    assert!(desk.lease(1000).is_some());
}

#[test]
fn statuses_only_advance_in_whatever_order_they_come() {
    use Delivery::{Delivered, Failed, Read, Sent};
    for (order, expected) in [
        (&[Read, Delivered, Sent][..], Read),
        (&[Sent, Read, Read], Read),
        (&[Sent, Failed, Sent], Failed),
        (&[Failed, Delivered, Failed], Delivered),
        (&[Delivered, Failed], Delivered),
    ] {
        let mut desk = Desk::open();
        for (index, delivery) in order.iter().enumerate() {
            desk.receive(&[item(&index.to_string())], 0);
            let job = desk.ticket(0);
            let status = StatusUpdate { message_id: "m".into(), delivery: *delivery };
            desk.complete(job, Done { effects: Vec::new(), status: Some(status) });
        }
        // Also before the send is recorded.
        desk.dispatch();
        desk.run(&sent(99));
        assert_eq!(desk.delivery(), Some(expected), "{order:?}");
    }
}

fn sent(expires_ms: i64) -> Command {
    let (reference, answer) = ("r".to_owned(), answer());
    Command::Done { slot: slot(), reference, now_ms: 1, expires_ms, sweep_every_ms: 1, answer }
}

#[test]
fn commands_and_answers_about_events_survive_the_wire_under_their_names() {
    let ticket = Ticket { queue: Queue::Outbox, id: 1, token: 2 };
    let failure = Failure::Retry { attempts: 5 };
    let done = Done {
        effects: vec![effect("e")],
        status: Some(StatusUpdate { message_id: "m".into(), delivery: Delivery::Read }),
    };
    for command in [
        EventCommand::Receive { items: vec![item("é\u{1}")], now_ms: 1, expires_ms: 2, sweep_every_ms: 3 },
        EventCommand::Lease { now_ms: 1, lease_end_ms: 2, skew_ms: 3, attempts: 4 },
        EventCommand::Heartbeat { ticket, lease_end_ms: 1, skew_ms: 2 },
        EventCommand::Complete { ticket, now_ms: 1, expires_ms: 2, sweep_every_ms: 3, done },
        EventCommand::Fail { ticket, now_ms: 1, retry_ms: 2, failure, error: "e".into() },
        EventCommand::Redrive { id: 1, now_ms: 2, oldest_ms: 3 },
        EventCommand::RedriveAll { filter: DeadFilter::default(), now_ms: 1, oldest_ms: 2, limit: 3 },
        EventCommand::ListDead { filter: DeadFilter::default(), limit: 1 },
    ] {
        let name = command.name();
        let json = serde_json::to_value(Command::Event(command.clone())).unwrap();
        assert_eq!(json["step"], name);
        assert_eq!(serde_json::from_value::<Command>(json).unwrap(), Command::Event(command));
    }
    let letter = DeadLetter {
        id: 1,
        queue: Queue::Job,
        about: "a".into(),
        provider: "meta".into(),
        endpoint: "loja-1".into(),
        subscriber: "reply".into(),
        payload: "{}".into(),
        error: "e".into(),
        died_ms: 2,
        attempts: 3,
    };
    let job = Work::Job { key: key("1"), payload: "{}".into() };
    for reply in [
        EventReply::Received { new: 1, known: 2, dead: 3 },
        EventReply::Leased { ticket, attempt: 1, work: job },
        EventReply::Leased { ticket, attempt: 1, work: Work::Send { effect: effect("e") } },
        EventReply::Buried { jobs: 1, outbox: 2 },
        EventReply::NotDead,
        EventReply::TooOld,
        EventReply::Redriven { ready: 1, too_old: 2, is_cut: true },
        EventReply::Dead { letters: vec![letter], is_cut: true },
    ] {
        let name = reply.name();
        let answer = Answer { reply: Reply::Event(reply), next_due_ms: None, next_work_ms: Some(7) };
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["found"], name);
        assert_eq!(serde_json::from_value::<Answer>(json).unwrap(), answer);
    }
}
