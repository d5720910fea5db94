//! What every store must do: every command, every fencing condition.

use super::{
    Answer, Command, Reply, Slot, Sought, SqliteStore, State, StoredAnswer, Unsettled, View, Whose, Word,
};

const LEASE_MS: i64 = 30_000;
const SKEW_MS: i64 = 5_000;
const DEAD_AFTER_MS: i64 = 75_000;
const TTL_MS: i64 = 86_400_000;
const TOMBSTONE_MS: i64 = 30 * TTL_MS;

/// A store with one key, asked at times that the test names.
struct Desk {
    store: SqliteStore,
    slot: Slot,
    tombstone_ms: i64,
    sweep_every_ms: i64,
}

impl Desk {
    fn open() -> Self {
        Self {
            store: SqliteStore::in_memory().unwrap(),
            slot: Slot { scope: "loja-1/messages/text".into(), key: "k".into() },
            tombstone_ms: TOMBSTONE_MS,
            sweep_every_ms: 1,
        }
    }

    fn ask(&mut self, command: Command) -> Answer {
        self.store.execute(&command).unwrap()
    }

    fn try_claim(&mut self, claim_id: &str, content: &str, now_ms: i64) -> Reply {
        self.claim_if(claim_id, content, now_ms, true)
    }

    fn claim_if(&mut self, claim_id: &str, content: &str, now_ms: i64, valid: bool) -> Reply {
        self.ask(Command::Claim {
            slot: self.slot.clone(),
            fingerprint: content.into(),
            claim_id: claim_id.into(),
            now_ms,
            lease_end_ms: now_ms + LEASE_MS,
            skew_ms: SKEW_MS,
            tombstone_ms: self.tombstone_ms,
            admissible: valid,
            askable: true,
        })
        .reply
    }

    fn claim(&mut self, claim_id: &str, now_ms: i64) -> i64 {
        match self.try_claim(claim_id, "jcs1:a", now_ms) {
            Reply::Claimed { token } => token,
            other => panic!("not claimed: {other:?}"),
        }
    }

    fn mark(&mut self, token: i64, reference: &str, now_ms: i64) -> Reply {
        self.ask(Command::Mark {
            slot: self.slot.clone(),
            token,
            now_ms,
            lease_end_ms: now_ms + LEASE_MS,
            reference: reference.into(),
            request: "{}".into(),
        })
        .reply
    }

    /// A claim at time 0 that is marked with reference `r`.
    fn dispatching(&mut self) -> i64 {
        let token = self.claim("c", 0);
        assert_eq!(self.mark(token, "r", 0), Reply::Applied);
        token
    }

    /// A dispatch at time 0 whose outcome is unknown.
    fn unknown(&mut self) -> i64 {
        let token = self.dispatching();
        assert_eq!(self.leave_unknown(token), Reply::Applied);
        token
    }

    fn leave_unknown(&mut self, token: i64) -> Reply {
        self.ask(Command::Unknown { slot: self.slot.clone(), token, now_ms: 0, next_ask_ms: Some(0) }).reply
    }

    fn done(&mut self, reference: &str, message_id: &str, now_ms: i64) -> Reply {
        self.done_with(reference, answer(message_id), now_ms)
    }

    fn done_with(&mut self, reference: &str, answer: StoredAnswer, now_ms: i64) -> Reply {
        self.ask(Command::Done {
            slot: self.slot.clone(),
            reference: reference.into(),
            now_ms,
            expires_ms: now_ms + TTL_MS,
            sweep_every_ms: self.sweep_every_ms,
            answer,
        })
        .reply
    }

    fn release(&mut self, token: i64) -> Reply {
        self.ask(Command::Release { slot: self.slot.clone(), token, now_ms: 0 }).reply
    }

    fn fence(&mut self, claim_id: &str) -> Reply {
        self.ask(Command::Fence { slot: self.slot.clone(), claim_id: claim_id.into(), now_ms: 0 }).reply
    }

    fn read(&mut self, now_ms: i64) -> Reply {
        self.ask(Command::Read {
            slot: self.slot.clone(),
            now_ms,
            skew_ms: SKEW_MS,
            tombstone_ms: self.tombstone_ms,
        })
        .reply
    }

    fn sweep(&mut self, now_ms: i64) -> Answer {
        self.ask(Command::Sweep {
            now_ms,
            skew_ms: SKEW_MS,
            tombstone_ms: self.tombstone_ms,
            askable: true,
            sweep_every_ms: self.sweep_every_ms,
        })
    }

    /// Asks about what was dispatched at `since_ms` or later; what was begun before `dead_before_ms` is dead.
    fn begin_ask(&mut self, now_ms: i64, since_ms: i64, dead_before_ms: i64) -> Reply {
        self.ask(Command::BeginAsk {
            now_ms,
            settle_lease_end_ms: now_ms + LEASE_MS,
            skew_ms: SKEW_MS,
            first_dispatch_at_or_after_ms: since_ms,
            dead_before_ms,
        })
        .reply
    }

    fn begin_query(&mut self, now_ms: i64) -> Reply {
        let settle_lease_end_ms = now_ms + LEASE_MS;
        self.ask(Command::BeginQuery { now_ms, settle_lease_end_ms, skew_ms: SKEW_MS }).reply
    }

    fn find(&mut self, sought: Sought, instance: &str, now_ms: i64) -> Reply {
        let whose = Whose::Of { instances: vec![instance.to_owned()] };
        self.find_of(sought, whose, now_ms)
    }

    fn find_of(&mut self, sought: Sought, whose: Whose, now_ms: i64) -> Reply {
        let tombstone_ms = self.tombstone_ms;
        self.ask(Command::Find { sought, whose, now_ms, skew_ms: SKEW_MS, tombstone_ms }).reply
    }

    fn find_message(&mut self, id: &str, now_ms: i64) -> Reply {
        self.find(Sought::Message { id: id.into() }, "loja-1", now_ms)
    }

    /// The operator's word.
    fn resolve(&mut self, reference: &str, word: Word, now_ms: i64) -> Reply {
        let slot = self.slot.clone();
        let reference = reference.into();
        self.ask(Command::Resolve { slot, reference, now_ms, skew_ms: SKEW_MS, word }).reply
    }

    fn list_unknown(&mut self, now_ms: i64, limit: u32) -> (Vec<Unsettled>, bool) {
        match self.ask(Command::ListUnknown { now_ms, skew_ms: SKEW_MS, limit }).reply {
            Reply::Unknowns { records, is_cut } => (records, is_cut),
            other => panic!("no list: {other:?}"),
        }
    }

    fn count_unknown(&mut self, now_ms: i64, limit: u32) -> u32 {
        match self.ask(Command::Census { now_ms, skew_ms: SKEW_MS, limit }).reply {
            Reply::Counted { census } => census.unknown,
            other => panic!("not counted: {other:?}"),
        }
    }

    fn release_asked(&mut self, settle_token: i64) -> Reply {
        self.ask(Command::ReleaseAsked { slot: self.slot.clone(), settle_token, now_ms: 0 }).reply
    }

    fn ask_later(&mut self, settle_token: i64, next_ask_ms: Option<i64>) -> Answer {
        self.ask(Command::AskLater { slot: self.slot.clone(), settle_token, now_ms: 0, next_ask_ms })
    }
}

fn answer(message_id: &str) -> StoredAnswer {
    StoredAnswer {
        status: 200,
        headers: vec![("content-type".into(), "application/json".into())],
        body: "{}".into(),
        message_id: Some(message_id.into()),
    }
}

/// What an operator's "sent" stores: nobody knows the provider's id.
fn answer_without_id() -> StoredAnswer {
    StoredAnswer { message_id: None, ..answer("") }
}

fn by_word_sent(now_ms: i64) -> Word {
    Word::Sent { expires_ms: now_ms + TTL_MS, sweep_every_ms: 1, answer: answer_without_id() }
}

const NOT_SENT: Word = Word::NotSent { dead_after_ms: DEAD_AFTER_MS };

fn view(reply: Reply) -> View {
    match reply {
        Reply::Meets { view } | Reply::Fenced { view: Some(view) } | Reply::Found { view, .. } => view,
        other => panic!("no view: {other:?}"),
    }
}

fn is_fenced(reply: &Reply) -> bool {
    matches!(reply, Reply::Fenced { .. })
}

fn asked(reply: Reply) -> (i64, bool) {
    match reply {
        Reply::Ask { settle_token, alone, .. } => (settle_token, alone),
        other => panic!("nothing to ask: {other:?}"),
    }
}

fn queried(reply: Reply) -> i64 {
    match reply {
        Reply::Query { settle_token, .. } => settle_token,
        other => panic!("nothing to ask: {other:?}"),
    }
}

#[test]
fn a_key_has_one_claim() {
    let mut desk = Desk::open();
    desk.claim("c1", 0);
    let met = view(desk.try_claim("c2", "jcs1:a", 1));
    assert_eq!((met.state, met.claim_id.as_str()), (State::Claimed, "c1"));
    assert_eq!(desk.try_claim("c3", "jcs1:b", 1), Reply::Mismatch { state: State::Claimed });
}

#[test]
fn an_inadmissible_request_claims_nothing_but_meets_what_is_there() {
    let mut desk = Desk::open();
    assert_eq!(desk.claim_if("c", "jcs1:a", 0, false), Reply::Absent);
    assert_eq!(desk.read(0), Reply::Absent);
    desk.claim("c", 0);
    assert!(matches!(desk.claim_if("d", "jcs1:a", 1, false), Reply::Meets { .. }));
    let lapsed_ms = LEASE_MS + SKEW_MS;
    assert_eq!(desk.claim_if("d", "jcs1:a", lapsed_ms, false), Reply::Absent);
}

#[test]
fn a_claim_is_taken_over_only_after_its_lease_and_the_skew() {
    let mut desk = Desk::open();
    let first = desk.claim("c1", 0);
    let early = desk.try_claim("c2", "jcs1:a", LEASE_MS + SKEW_MS - 1);
    assert_eq!(view(early).claim_id, "c1");
    let second = desk.claim("c3", LEASE_MS + SKEW_MS);
    assert!(second > first);
    assert!(is_fenced(&desk.mark(first, "late", LEASE_MS + SKEW_MS)));
    assert!(is_fenced(&desk.release(first)));
    assert_eq!(desk.mark(second, "r", LEASE_MS + SKEW_MS), Reply::Applied);
}

#[test]
fn a_token_is_never_used_again() {
    let mut desk = Desk::open();
    let mut last = 0;
    for round in 0..4 {
        let token = desk.claim("c", round * 100_000);
        assert!(token > last);
        last = token;
        match round % 2 {
            0 => assert_eq!(desk.release(token), Reply::Applied),
            _ => drop(desk.sweep(round * 100_000 + LEASE_MS + SKEW_MS)),
        }
        assert_eq!(desk.read(round * 100_000), Reply::Absent);
        assert!(is_fenced(&desk.mark(token, "r", 0)));
    }
}

#[test]
fn a_dispatch_past_its_lease_is_unknown_to_everybody() {
    let mut desk = Desk::open();
    let token = desk.dispatching();
    let lapsed_ms = LEASE_MS + SKEW_MS;
    assert_eq!(view(desk.read(lapsed_ms - 1)).state, State::Dispatching);
    assert_eq!(view(desk.read(lapsed_ms)).state, State::Unknown);
    let met = view(desk.try_claim("d", "jcs1:a", lapsed_ms));
    assert_eq!((met.state, met.reference.as_deref()), (State::Unknown, Some("r")));
    assert!(is_fenced(&desk.leave_unknown(token)));
    assert_eq!(view(desk.read(0)).state, State::Unknown);
}

#[test]
fn done_needs_the_reference_and_may_be_told_twice() {
    let mut desk = Desk::open();
    let token = desk.claim("c", 0);
    assert!(is_fenced(&desk.done("r", "m1", 0)), "nothing was marked");
    desk.mark(token, "r", 0);
    assert!(is_fenced(&desk.done("other", "m1", 0)));
    assert_eq!(desk.done("r", "m1", 1), Reply::Applied);
    assert_eq!(desk.done("r", "m1", 2), Reply::Applied);
    assert!(is_fenced(&desk.done("r", "m2", 3)), "definite once, for good");
    let met = view(desk.try_claim("d", "jcs1:a", 4));
    assert_eq!((met.state, met.answer), (State::Done, Some(answer("m1"))));
    assert!(is_fenced(&desk.release(token)));
    assert!(is_fenced(&desk.leave_unknown(token)));
}

#[test]
fn done_settles_an_unknown_whoever_holds_the_settle_lease() {
    let mut desk = Desk::open();
    desk.unknown();
    let (settle_token, _) = asked(desk.begin_ask(1, 0, 0));
    assert_eq!(desk.done("r", "m1", 2), Reply::Applied);
    assert!(is_fenced(&desk.release_asked(settle_token)));
    assert!(is_fenced(&desk.ask_later(settle_token, None).reply));
    assert_eq!(view(desk.read(3)).state, State::Done);
}

#[test]
fn the_ttl_runs_from_the_durable_answer_and_a_tombstone_follows() {
    let mut desk = Desk::open();
    desk.dispatching();
    desk.done("r", "m1", 1_000);
    let expires_ms = 1_000 + TTL_MS;
    assert_eq!(view(desk.read(expires_ms - 1)).state, State::Done);
    // Not yet swept, and expired all the same (S5).
    let met = view(desk.try_claim("d", "jcs1:a", expires_ms));
    assert_eq!((met.state, met.answer, met.message_id.as_deref()), (State::Tombstone, None, Some("m1")));
    assert_eq!(desk.try_claim("d", "jcs1:b", expires_ms), Reply::Mismatch { state: State::Tombstone });
    let swept = desk.sweep(expires_ms);
    assert!(matches!(&swept.reply, Reply::Swept { expired, .. } if expired.len() == 1));
    assert_eq!(swept.next_due_ms, Some(expires_ms + TOMBSTONE_MS));
    assert_eq!(desk.done("r", "m1", expires_ms), Reply::Applied);
    assert_eq!(view(desk.read(expires_ms + TOMBSTONE_MS - 1)).state, State::Tombstone);
    assert_eq!(desk.read(expires_ms + TOMBSTONE_MS), Reply::Absent);
    desk.claim("d", expires_ms + TOMBSTONE_MS);
}

#[test]
fn without_tombstones_an_expired_key_is_new() {
    let mut desk = Desk::open();
    desk.tombstone_ms = 0;
    desk.dispatching();
    desk.done("r", "m1", 0);
    assert_eq!(desk.read(TTL_MS), Reply::Absent);
    let swept = desk.sweep(TTL_MS - 1);
    assert_eq!(swept.next_due_ms, Some(TTL_MS));
    let token = desk.claim("d", TTL_MS);
    assert_eq!(desk.mark(token, "r2", TTL_MS), Reply::Applied);
    assert!(is_fenced(&desk.done("r", "m1", TTL_MS)), "another claim's");
}

#[test]
fn a_fencing_write_depends_on_the_claim_and_not_on_the_token() {
    let mut desk = Desk::open();
    let token = desk.claim("c", 0);
    let first = view(desk.fence("c"));
    let second = view(desk.fence("c"));
    assert!(token < first.token && first.token < second.token);
    assert!(is_fenced(&desk.mark(token, "late", 0)));
    assert!(is_fenced(&desk.mark(first.token, "late", 0)));
    assert_eq!(desk.mark(second.token, "r", 0), Reply::Applied);
    assert!(is_fenced(&desk.fence("another")));
    assert_eq!(view(desk.fence("c")).reference.as_deref(), Some("r"));
    let newest = view(desk.fence("c")).token;
    assert_eq!(desk.release(newest), Reply::Applied);
    assert_eq!(desk.fence("c"), Reply::Absent);
}

#[test]
fn a_release_is_refused_once_a_re_ask_was_begun() {
    let mut desk = Desk::open();
    let token = desk.unknown();
    let (settle_token, _) = asked(desk.begin_ask(1, 0, 0));
    assert!(is_fenced(&desk.release(token)));
    desk.ask_later(settle_token, Some(2));
    assert!(is_fenced(&desk.release(token)), "ever begun");
    let mut desk = Desk::open();
    let token = desk.unknown();
    assert_eq!(desk.release(token), Reply::Applied);
}

#[test]
fn one_asks_at_a_time() {
    let mut desk = Desk::open();
    desk.unknown();
    let (first, _) = asked(desk.begin_ask(1, 0, 0));
    assert_eq!(desk.begin_ask(2, 0, 0), Reply::Absent);
    let lapsed_ms = 1 + LEASE_MS + SKEW_MS;
    assert_eq!(desk.begin_ask(lapsed_ms - 1, 0, 0), Reply::Absent);
    let (second, _) = asked(desk.begin_ask(lapsed_ms, 0, 0));
    assert!(is_fenced(&desk.release_asked(first)));
    assert!(is_fenced(&desk.ask_later(first, None).reply));
    let later = desk.ask_later(second, Some(lapsed_ms + 500));
    assert_eq!((later.reply, later.next_due_ms), (Reply::Applied, Some(lapsed_ms + 500)));
    assert_eq!(desk.begin_ask(lapsed_ms + 499, 0, 0), Reply::Absent);
    let (third, _) = asked(desk.begin_ask(lapsed_ms + 500, 0, 0));
    assert_eq!(desk.release_asked(third), Reply::Applied);
    assert_eq!(desk.read(0), Reply::Absent);
}

#[test]
fn a_re_ask_is_alone_when_every_earlier_request_is_dead() {
    let mut desk = Desk::open();
    desk.unknown();
    let (token, alone) = asked(desk.begin_ask(75_000, 0, 0));
    assert!(!alone, "the first dispatch is not dead yet");
    desk.ask_later(token, Some(100_000));
    let (token, alone) = asked(desk.begin_ask(100_000, 0, 25_000));
    assert!(!alone, "the re-ask before is not dead yet");
    desk.ask_later(token, Some(176_000));
    let (_, alone) = asked(desk.begin_ask(176_000, 0, 101_000));
    assert!(alone);
}

#[test]
fn past_the_retention_nobody_asks_and_nothing_is_due() {
    let mut desk = Desk::open();
    desk.unknown();
    let answer = desk.ask(Command::BeginAsk {
        now_ms: 10,
        settle_lease_end_ms: 10 + LEASE_MS,
        skew_ms: SKEW_MS,
        first_dispatch_at_or_after_ms: 1,
        dead_before_ms: 0,
    });
    assert_eq!((answer.reply, answer.next_due_ms), (Reply::Absent, None));
    assert_eq!(view(desk.read(i64::MAX / 2)).state, State::Unknown);
}

#[test]
fn a_sweep_does_what_a_repetition_would() {
    let mut desk = Desk::open();
    desk.claim("c", 0);
    let lapsed_ms = LEASE_MS + SKEW_MS;
    assert_eq!(desk.sweep(lapsed_ms - 1).next_due_ms, Some(lapsed_ms));
    let swept = desk.sweep(lapsed_ms);
    assert!(matches!(&swept.reply, Reply::Swept { released, .. } if released.len() == 1));
    assert_eq!(swept.next_due_ms, None);

    desk.dispatching();
    let swept = desk.sweep(lapsed_ms);
    assert!(matches!(&swept.reply, Reply::Swept { unknown, .. } if unknown.len() == 1));
    assert_eq!(swept.next_due_ms, Some(lapsed_ms), "the first ask is due");
    assert_eq!(view(desk.read(0)).state, State::Unknown);
}

#[test]
fn a_sweep_is_bounded_and_says_that_there_is_more() {
    let mut desk = Desk::open();
    for key in 0..501 {
        desk.slot.key = format!("{key:03}");
        desk.claim("c", 0);
    }
    let lapsed_ms = LEASE_MS + SKEW_MS;
    let swept = desk.sweep(lapsed_ms);
    assert!(matches!(&swept.reply, Reply::Swept { released, .. } if released.len() == 500));
    assert_eq!(swept.next_due_ms, Some(lapsed_ms));
    assert_eq!(desk.sweep(lapsed_ms).next_due_ms, None);
}

#[test]
fn a_mark_renews_the_lease_and_never_shortens_it() {
    let mut desk = Desk::open();
    let token = desk.claim("c", 0);
    assert_eq!(desk.mark(token, "r", 20_000), Reply::Applied);
    let lapsed_ms = 20_000 + LEASE_MS + SKEW_MS;
    assert_eq!(view(desk.read(lapsed_ms - 1)).state, State::Dispatching);
    assert_eq!(desk.sweep(lapsed_ms - 1).next_due_ms, Some(lapsed_ms));
    assert_eq!(view(desk.read(lapsed_ms)).state, State::Unknown);

    let mut desk = Desk::open();
    let token = desk.claim("c", 0);
    desk.mark(token, "r", -20_000);
    assert_eq!(desk.sweep(0).next_due_ms, Some(LEASE_MS + SKEW_MS), "a clock that stepped back");
}

/// S11 wants "sending for over 5 minutes" reconciled before any retry.
#[test]
fn nothing_is_dispatching_for_over_five_minutes_after_a_sweep() {
    const FIVE_MINUTES_MS: i64 = 300_000;
    for marked_ms in [0, 10_000, LEASE_MS + SKEW_MS] {
        let mut desk = Desk::open();
        let token = desk.claim("c", 0);
        assert_eq!(desk.mark(token, "r", marked_ms), Reply::Applied);
        let due_ms = desk.sweep(marked_ms).next_due_ms.unwrap();
        assert!(due_ms < marked_ms + FIVE_MINUTES_MS, "the sweeper is woken before");
        desk.sweep(due_ms);
        assert_eq!(desk.store.records().unwrap()[0].state, State::Unknown);
        // A retry alone would have done the same.
        let met = view(desk.try_claim("d", "jcs1:a", marked_ms + FIVE_MINUTES_MS));
        assert_eq!(met.state, State::Unknown);
    }
}

#[test]
fn what_has_expired_is_swept_together_and_counts_as_expired_before() {
    let mut desk = Desk::open();
    desk.sweep_every_ms = 3_600_000;
    for (key, done_ms) in [("a", 1), ("b", 1_000), ("c", 3_600_000)] {
        desk.slot.key = key.into();
        let token = desk.claim(key, 0);
        desk.mark(token, key, 0);
        desk.done(key, "m1", done_ms);
    }
    let sweep_ms = TTL_MS + desk.sweep_every_ms;
    let early = desk.sweep(sweep_ms - 1);
    assert!(matches!(&early.reply, Reply::Swept { expired, .. } if expired.is_empty()));
    assert_eq!(early.next_due_ms, Some(sweep_ms));
    desk.slot.key = "a".into();
    assert_eq!(
        view(desk.read(TTL_MS + 1)).state,
        State::Tombstone,
        "not swept, and expired all the same (S5)"
    );
    let swept = desk.sweep(sweep_ms);
    assert!(matches!(&swept.reply, Reply::Swept { expired, .. } if expired.len() == 3));
    assert_eq!(swept.next_due_ms, Some(sweep_ms + TOMBSTONE_MS));
}

#[test]
fn a_query_is_no_re_ask() {
    let mut desk = Desk::open();
    let token = desk.unknown();
    let settle_token = queried(desk.begin_query(1));
    assert_eq!(desk.begin_query(2), Reply::Absent, "one asks at a time");
    assert_eq!(desk.begin_ask(2, 0, 0), Reply::Absent);
    assert!(is_fenced(&desk.ask_later(token, None).reply));
    let later = desk.ask_later(settle_token, Some(500));
    assert_eq!((later.reply, later.next_due_ms), (Reply::Applied, Some(500)));
    let Reply::Query { queries, last_request_ms, reference, request, .. } = desk.begin_query(500) else {
        panic!("nothing to ask");
    };
    assert_eq!((queries, last_request_ms), (2, 0), "a query is no request that could act");
    assert_eq!((reference.as_str(), request.as_str()), ("r", "{}"));
    assert_eq!(desk.release(token), Reply::Applied, "the claim's own negative still counts");
}

#[test]
fn a_query_whose_asker_died_is_asked_again_and_then_given_up() {
    let mut desk = Desk::open();
    desk.unknown();
    let first = queried(desk.begin_query(1));
    let lapsed_ms = 1 + LEASE_MS + SKEW_MS;
    assert_eq!(desk.begin_query(lapsed_ms - 1), Reply::Absent);
    let second = queried(desk.begin_query(lapsed_ms));
    assert!(is_fenced(&desk.ask_later(first, None).reply));
    let later = desk.ask_later(second, None);
    assert_eq!((later.reply, later.next_due_ms), (Reply::Applied, None));
    assert_eq!(desk.begin_query(i64::MAX / 2), Reply::Absent);
    assert_eq!(view(desk.read(i64::MAX / 2)).state, State::Unknown);
    assert_eq!(desk.done("r", "m1", 0), Reply::Applied, "proof settles all the same");
}

#[test]
fn a_record_is_found_by_whatever_is_known_of_it() {
    let mut desk = Desk::open();
    let token = desk.claim("c", 0);
    let by_key = Sought::Key { slot: desk.slot.clone() };
    assert_eq!(view(desk.find(by_key.clone(), "loja-1", 1)).state, State::Claimed);
    assert_eq!(desk.find(by_key.clone(), "loja-1", LEASE_MS + SKEW_MS), Reply::Absent, "lapsed");
    desk.mark(token, "r", 0);
    assert_eq!(view(desk.find_message("r", 1)).state, State::Dispatching);
    assert_eq!(view(desk.find_message("r", LEASE_MS + SKEW_MS)).state, State::Unknown);
    assert_eq!(desk.find_message("m1", 1), Reply::Absent);
    desk.done("r", "m1", 0);
    assert_eq!(view(desk.find_message("m1", 1)).answer, Some(answer("m1")));
    let expired = view(desk.find_message("r", TTL_MS));
    assert_eq!((expired.state, expired.answer), (State::Tombstone, None));
    assert_eq!(desk.find_message("m1", TTL_MS + TOMBSTONE_MS), Reply::Absent);
    for other in ["loja-2", "loja", "loja-1/messages", ""] {
        assert_eq!(desk.find(by_key.clone(), other, 1), Reply::Absent, "{other}");
        assert_eq!(desk.find(Sought::Message { id: "r".into() }, other, 1), Reply::Absent, "{other}");
    }
}

#[test]
fn a_message_of_two_tenants_is_found_by_each() {
    let mut desk = Desk::open();
    for instance in ["loja-1", "loja-2"] {
        desk.slot.scope = format!("{instance}/messages/text");
        let token = desk.claim(instance, 0);
        desk.mark(token, instance, 0);
        desk.done(instance, "m1", 0);
    }
    for instance in ["loja-1", "loja-2"] {
        let found = view(desk.find(Sought::Message { id: "m1".into() }, instance, 1));
        assert_eq!(found.reference.as_deref(), Some(instance));
    }
    let by_id = Sought::Message { id: "m1".into() };
    let not_of = |ids: &[&str]| Whose::NotOf { instances: ids.iter().map(|id| (*id).into()).collect() };
    let found = view(desk.find_of(by_id.clone(), not_of(&["loja-1"]), 1));
    assert_eq!(found.reference.as_deref(), Some("loja-2"));
    assert_eq!(desk.find_of(by_id.clone(), not_of(&["loja-1", "loja-2"]), 1), Reply::Absent);
    assert!(matches!(desk.find_of(by_id, Whose::Anybodys, 1), Reply::Found { .. }));
}

#[test]
fn a_word_of_sent_settles_what_is_unknown_and_nothing_else() {
    let mut desk = Desk::open();
    assert_eq!(desk.resolve("r", by_word_sent(0), 0), Reply::Absent);
    let token = desk.dispatching();
    let lapsed_ms = LEASE_MS + SKEW_MS;
    assert!(is_fenced(&desk.resolve("r", by_word_sent(0), lapsed_ms - 1)), "its lease is alive");
    assert!(is_fenced(&desk.resolve("other", by_word_sent(0), lapsed_ms)));
    assert_eq!(desk.resolve("r", by_word_sent(lapsed_ms), lapsed_ms), Reply::Applied);
    let met = view(desk.try_claim("d", "jcs1:a", lapsed_ms));
    assert_eq!((met.state, met.answer), (State::Done, Some(answer_without_id())));
    assert!(is_fenced(&desk.resolve("r", NOT_SENT, i64::MAX / 2 - TTL_MS)), "settled");
    assert!(is_fenced(&desk.release(token)));
}

#[test]
fn a_word_of_sent_leaves_a_tombstone_although_nobody_knows_the_id() {
    let mut desk = Desk::open();
    desk.unknown();
    desk.resolve("r", by_word_sent(0), 0);
    assert_eq!(view(desk.try_claim("d", "jcs1:a", TTL_MS)).state, State::Tombstone);
    let swept = desk.sweep(TTL_MS);
    assert!(matches!(&swept.reply, Reply::Swept { expired, .. } if expired.len() == 1));
    assert_eq!(view(desk.try_claim("d", "jcs1:a", TTL_MS + TOMBSTONE_MS - 1)).state, State::Tombstone);
    let swept = desk.sweep(TTL_MS + TOMBSTONE_MS);
    assert!(matches!(&swept.reply, Reply::Swept { forgotten, .. } if forgotten.len() == 1));
}

#[test]
fn a_stored_error_leaves_no_tombstone() {
    let mut desk = Desk::open();
    desk.unknown();
    desk.done_with("r", StoredAnswer { status: 504, ..answer_without_id() }, 0);
    assert_eq!(desk.read(TTL_MS), Reply::Absent);
    let swept = desk.sweep(TTL_MS);
    assert!(matches!(&swept.reply, Reply::Swept { forgotten, .. } if forgotten.len() == 1));
}

#[test]
fn a_word_of_not_sent_waits_until_every_request_is_dead() {
    let mut desk = Desk::open();
    let token = desk.unknown();
    let early = Reply::TooEarly { earliest_ms: DEAD_AFTER_MS + 1 };
    assert_eq!(desk.resolve("r", NOT_SENT, DEAD_AFTER_MS), early);
    let (settle_token, _) = asked(desk.begin_ask(10_000, 0, 0));
    let early = Reply::TooEarly { earliest_ms: 10_000 + DEAD_AFTER_MS + 1 };
    assert_eq!(desk.resolve("r", NOT_SENT, DEAD_AFTER_MS + 1), early, "a re-ask may act too");
    let dead_ms = 10_000 + DEAD_AFTER_MS + 1;
    assert!(is_fenced(&desk.resolve("other", NOT_SENT, dead_ms)));
    assert_eq!(desk.resolve("r", NOT_SENT, dead_ms), Reply::Applied);
    assert_eq!(desk.read(dead_ms), Reply::Absent);
    assert_eq!(desk.resolve("r", NOT_SENT, dead_ms), Reply::Absent);
    // Whoever still holds a part of it is fenced, also from the next claim.
    for _ in 0..2 {
        assert!(is_fenced(&desk.done("r", "m1", dead_ms)));
        assert!(is_fenced(&desk.ask_later(settle_token, Some(0)).reply));
        assert!(is_fenced(&desk.release_asked(settle_token)));
        assert!(is_fenced(&desk.release(token)));
        assert!(!matches!(desk.try_claim("d", "jcs1:a", dead_ms), Reply::Mismatch { .. }));
    }
}

#[test]
fn a_query_does_not_put_off_a_word_of_not_sent() {
    let mut desk = Desk::open();
    desk.unknown();
    queried(desk.begin_query(DEAD_AFTER_MS));
    assert_eq!(desk.resolve("r", NOT_SENT, DEAD_AFTER_MS + 1), Reply::Applied);
}

#[test]
fn what_is_unknown_is_listed_from_the_oldest() {
    let mut desk = Desk::open();
    for (key, marked_ms) in [("late", 2_000), ("early", 1_000), ("done", 0), ("claimed", 0)] {
        desk.slot.key = key.into();
        let token = desk.claim(key, 0);
        if key != "claimed" {
            desk.mark(token, key, marked_ms);
        }
        match key {
            "early" => drop(desk.leave_unknown(token)),
            "done" => drop(desk.done(key, "m1", 0)),
            _ => {}
        }
    }
    let references = |(records, is_cut): (Vec<Unsettled>, bool)| {
        (records.into_iter().map(|it| it.reference).collect::<Vec<_>>(), is_cut)
    };
    let lapsed_ms = 2_000 + LEASE_MS + SKEW_MS;
    assert_eq!(references(desk.list_unknown(lapsed_ms - 1, 9)), (vec!["early".into()], false));
    assert_eq!(references(desk.list_unknown(lapsed_ms, 9)), (vec!["early".into(), "late".into()], false));
    assert_eq!(references(desk.list_unknown(lapsed_ms, 1)), (vec!["early".into()], true));
    let counted = [(lapsed_ms - 1, 9), (lapsed_ms, 9), (lapsed_ms, 1)];
    assert_eq!(counted.map(|(now_ms, limit)| desk.count_unknown(now_ms, limit)), [1, 2, 1]);
    desk.slot.key = "early".into();
    let (records, _) = desk.list_unknown(0, 9);
    assert_eq!((records[0].since_ms, records[0].last_request_ms), (1_000, 1_000));
    assert_eq!(records[0].slot, desk.slot);
}

#[test]
fn keys_of_two_scopes_never_meet() {
    let mut desk = Desk::open();
    desk.claim("c", 0);
    desk.slot.scope = "loja-2/messages/text".into();
    assert_eq!(desk.read(0), Reply::Absent);
    desk.claim("d", 0);
    assert_eq!(desk.store.records().unwrap().len(), 2);
}

#[test]
fn a_file_keeps_its_records_and_its_sequence() {
    let path = std::env::temp_dir().join(format!("onceproof-contract-{}.db", std::process::id()));
    let remove = || {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
        }
    };
    remove();
    let mut desk = Desk::open();
    desk.store = SqliteStore::at(&path).unwrap();
    let first = desk.claim("c", 0);
    desk.release(first);
    desk.store = SqliteStore::at(&path).unwrap();
    let second = desk.claim("d", 0);
    assert!(second > first);
    desk.store = SqliteStore::at(&path).unwrap();
    assert_eq!(desk.store.records().unwrap().len(), 1);
    remove();
}

#[test]
fn commands_and_answers_survive_the_wire() {
    let mut desk = Desk::open();
    let token = desk.unknown();
    let command = Command::Release { slot: desk.slot.clone(), token, now_ms: -1 };
    let frame = super::wire::encode(&command).unwrap();
    assert_eq!(serde_json::from_slice::<Command>(&frame[4..]).unwrap(), command);
    let outcome: super::wire::Outcome =
        Ok(Answer { reply: desk.begin_ask(1, 0, 0), next_due_ms: Some(7), next_work_ms: None });
    let frame = super::wire::encode(&outcome).unwrap();
    assert_eq!(serde_json::from_slice::<super::wire::Outcome>(&frame[4..]).unwrap(), outcome);
}
