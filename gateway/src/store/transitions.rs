//! The transitions of a record, one function for each command. A writer's claim, lease or reference is tested in
//! the very statement that writes, so that nothing can come between.

mod ask;
mod census;
mod claim;
mod dead;
mod events;
mod find;
mod horizon;
mod lease;
mod outcome;
mod receive;
mod resolve;
mod sweep;

use rusqlite::{Connection, Result, Row};

use self::{ask::SettleLease, claim::Claim, horizon::Horizon, outcome::Keeping};
use super::{Command, Reply, Slot, rows};

/// Executes one command inside the caller's transaction.
pub(super) fn run(db: &Connection, command: &Command) -> Result<Reply> {
    match command {
        Command::Claim {
            slot,
            fingerprint,
            claim_id,
            now_ms,
            lease_end_ms,
            skew_ms,
            tombstone_ms,
            admissible,
            askable,
        } => {
            let horizon = Horizon::new(*now_ms, *skew_ms, *tombstone_ms, *askable);
            let claim =
                Claim { slot, fingerprint, claim_id, lease_end_ms: *lease_end_ms, admissible: *admissible };
            claim::take(db, &claim, horizon)
        }
        Command::Mark { slot, token, now_ms, lease_end_ms, reference, request } => {
            outcome::mark(db, slot, *token, *now_ms, *lease_end_ms, reference, request)
        }
        Command::Done { slot, reference, expires_ms, sweep_every_ms, answer, now_ms: _ } => {
            let keeping = Keeping { expires_ms: *expires_ms, sweep_every_ms: *sweep_every_ms };
            outcome::done(db, slot, reference, keeping, answer)
        }
        Command::Unknown { slot, token, next_ask_ms, now_ms: _ } => {
            outcome::unknown(db, slot, *token, *next_ask_ms)
        }
        Command::Release { slot, token, now_ms: _ } => outcome::release(db, slot, *token),
        Command::Fence { slot, claim_id, now_ms: _ } => outcome::fence(db, slot, claim_id),
        Command::Read { slot, now_ms, skew_ms, tombstone_ms } => {
            claim::read(db, slot, Horizon::new(*now_ms, *skew_ms, *tombstone_ms, false))
        }
        Command::BeginAsk {
            now_ms,
            settle_lease_end_ms,
            skew_ms,
            first_dispatch_at_or_after_ms,
            dead_before_ms,
        } => {
            let lease = SettleLease::new(*now_ms, *settle_lease_end_ms, *skew_ms);
            ask::give_up_asking(db, lease, *first_dispatch_at_or_after_ms)?;
            ask::begin_ask(db, lease, *dead_before_ms)
        }
        Command::BeginQuery { now_ms, settle_lease_end_ms, skew_ms } => {
            ask::begin_query(db, SettleLease::new(*now_ms, *settle_lease_end_ms, *skew_ms))
        }
        Command::ReleaseAsked { slot, settle_token, now_ms: _ } => {
            ask::release_asked(db, slot, *settle_token)
        }
        Command::AskLater { slot, settle_token, next_ask_ms, now_ms: _ } => {
            ask::ask_later(db, slot, *settle_token, *next_ask_ms)
        }
        Command::Sweep { now_ms, skew_ms, tombstone_ms, askable, sweep_every_ms } => {
            let horizon = Horizon::new(*now_ms, *skew_ms, *tombstone_ms, *askable);
            sweep::sweep(db, &next(db)?, horizon, *sweep_every_ms)
        }
        Command::Find { sought, whose, now_ms, skew_ms, tombstone_ms } => {
            let horizon = Horizon::new(*now_ms, *skew_ms, *tombstone_ms, false);
            find::find(db, sought, whose, horizon)
        }
        Command::Resolve { slot, reference, now_ms, skew_ms, word } => {
            let horizon = Horizon::new(*now_ms, *skew_ms, 0, false);
            resolve::resolve(db, slot, reference, word, horizon)
        }
        Command::ListUnknown { now_ms, skew_ms, limit } => find::list_unknown(db, *now_ms, *skew_ms, *limit),
        Command::Census { now_ms, skew_ms, limit } => census::census(db, *now_ms, *skew_ms, *limit),
        Command::Event(command) => events::run(db, command),
    }
}

/// The earliest times at which something is to be done.
pub(super) struct Next {
    record_ms: Option<i64>,
    inbox_ms: Option<i64>,
    status_ms: Option<i64>,
    /// For a worker.
    pub(super) work_ms: Option<i64>,
}

impl Next {
    /// For a sweep or a re-ask.
    pub(super) fn due_ms(&self) -> Option<i64> {
        [self.record_ms, self.inbox_ms, self.status_ms].into_iter().flatten().min()
    }
}

pub(super) fn next(db: &Connection) -> Result<Next> {
    db.prepare_cached(
        "SELECT (SELECT due_ms FROM record WHERE due_ms IS NOT NULL ORDER BY due_ms LIMIT 1),
                (SELECT due_ms FROM inbox ORDER BY due_ms LIMIT 1),
                (SELECT due_ms FROM message_status ORDER BY due_ms LIMIT 1),
                (SELECT due_ms FROM job WHERE due_ms IS NOT NULL ORDER BY due_ms LIMIT 1),
                (SELECT due_ms FROM outbox WHERE due_ms IS NOT NULL ORDER BY due_ms LIMIT 1)",
    )?
    .query_row([], |row| {
        let work: [Option<i64>; 2] = [row.get(3)?, row.get(4)?];
        Ok(Next {
            record_ms: row.get(0)?,
            inbox_ms: row.get(1)?,
            status_ms: row.get(2)?,
            work_ms: work.into_iter().flatten().min(),
        })
    })
}

/// The next fencing token. No delete or sweep resets the sequence, so that none is ever used twice.
fn next_token(db: &Connection) -> Result<i64> {
    // Two statements in one transaction cost less than RETURNING, which makes a temporary table each time.
    db.prepare_cached("UPDATE sequence SET last = last + 1")?.execute([])?;
    db.prepare_cached("SELECT last FROM sequence")?.query_row([], |row| row.get(0))
}

/// SQL for the first sweep of what has expired, at or after a time: at a multiple of the period, so that one sweep
/// serves many records (S5). Until then an expired record counts as expired all the same.
fn first_sweep(at_ms: &str, every_ms: &str) -> String {
    format!("({at_ms} + {every_ms} - 1) / {every_ms} * {every_ms}")
}

fn slot_of(row: &Row<'_>) -> Result<Slot> {
    Ok(Slot { scope: row.get("scope")?, key: row.get("key")? })
}

fn applied_or_fenced(db: &Connection, slot: &Slot, changed: usize) -> Result<Reply> {
    if changed > 0 {
        return Ok(Reply::Applied);
    }
    Ok(Reply::Fenced { view: rows::find(db, slot)?.map(|found| found.view) })
}
