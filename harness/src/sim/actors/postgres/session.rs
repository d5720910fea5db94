//! One connection, and the transaction that it has open. When it ends, so does that: rolled back.

use std::sync::Arc;

use onceproof_gateway::world::SharedWorld;

use super::{
    book::{Shared, Transaction},
    history,
    statement::{Answer, Outcome, SqlError, Statement},
    tables::{Change, DeadLetter, Message},
};
use crate::{
    history::Event,
    sim::{
        actors::database::{AFTER_COMMIT, BEFORE_COMMIT},
        cast::DATABASE,
        clock,
        digest::Kind,
    },
};

/// A connection.
pub struct Session {
    shared: Arc<Shared>,
    world: SharedWorld,
    number: u64,
}

impl Session {
    /// A connection on which nothing was said.
    pub fn new(shared: &Arc<Shared>, world: &SharedWorld) -> Self {
        let mut book = shared.book();
        book.sessions += 1;
        Self { shared: Arc::clone(shared), world: world.clone(), number: book.sessions }
    }

    /// Executes a statement.
    pub async fn execute(&self, statement: Statement) -> Outcome {
        let told = serde_json::to_vec(&statement).unwrap_or_default();
        let is_alone = !self.shared.book().open.contains_key(&self.number);
        let outcome = match statement {
            Statement::Begin => self.begin(),
            Statement::Commit => self.commit().await,
            Statement::Rollback => self.roll_back(),
            statement if is_alone => self.alone(statement).await,
            statement => self.within_transaction(statement).await,
        };
        let heard = serde_json::to_vec(&outcome).unwrap_or_default();
        self.shared.stage.digest(Kind::Statement, &[DATABASE.as_bytes(), &told, &heard]);
        outcome
    }

    fn begin(&self) -> Outcome {
        self.shared.book().open.entry(self.number).or_default();
        Ok(Answer::Done)
    }

    /// A transaction that is aborted is rolled back, and its COMMIT is no error.
    async fn commit(&self) -> Outcome {
        self.world.reach(BEFORE_COMMIT).await;
        let ended = self.shared.book().open.remove(&self.number);
        let ended = ended.filter(|transaction| !transaction.is_aborted);
        if let Some(Transaction { changes, .. }) = ended {
            let mut book = self.shared.book();
            changes.iter().for_each(|change| book.tables.apply(change));
            book.commits.push(changes.clone());
            drop(book);
            history::committed(&self.shared.stage, &changes).into_iter().for_each(|event| self.tell(event));
        }
        self.tell_that_it_ended();
        self.world.reach(AFTER_COMMIT).await;
        Ok(Answer::Done)
    }

    fn roll_back(&self) -> Outcome {
        if self.shared.book().open.remove(&self.number).is_some() {
            self.tell_that_it_ended();
        }
        Ok(Answer::Done)
    }

    async fn alone(&self, statement: Statement) -> Outcome {
        self.begin()?;
        let outcome = self.within_transaction(statement).await;
        let ended = if outcome.is_ok() { self.commit().await } else { self.roll_back() };
        ended.and(outcome)
    }

    async fn within_transaction(&self, statement: Statement) -> Outcome {
        if self.change(|transaction| transaction.is_aborted) {
            return Err(SqlError::Aborted);
        }
        match statement {
            Statement::InsertWebhook { event_id, payload } => self.insert_webhook(event_id, payload).await,
            Statement::InsertMessage { payload, due_ms } => {
                let mut book = self.shared.book();
                book.messages += 1;
                let message = Message { id: book.messages, payload, attempts: 0, due_ms };
                drop(book);
                self.will(Change::Message(message))
            }
            Statement::TakeMessage { now_ms } => Ok(Answer::Message(self.take(now_ms))),
            Statement::DeleteMessage { id } => match self.payload(id) {
                Some(payload) => self.will(Change::MessageGone { id, payload }),
                None => Ok(Answer::Done),
            },
            Statement::PostponeMessage { id, attempts, due_ms } => match self.payload(id) {
                Some(payload) => self.will(Change::MessageLater { id, payload, attempts, due_ms }),
                None => Ok(Answer::Done),
            },
            Statement::InsertDeadLetter { payload, error, failed_at_ms } => {
                self.will(Change::DeadLetter(DeadLetter { payload, error, failed_at_ms }))
            }
            Statement::Begin | Statement::Commit | Statement::Rollback => Ok(Answer::Done),
        }
    }

    /// An id that another transaction is about to insert is waited for: only its end tells whether it is taken.
    async fn insert_webhook(&self, event_id: String, payload: String) -> Outcome {
        let mut ended = self.shared.ended.subscribe();
        while self.shared.book().is_being_inserted(self.number, &event_id) {
            // Its sender lives as long as this does.
            let _ = ended.changed().await;
        }
        if self.shared.book().tables.webhooks.contains(&event_id) {
            self.change(|transaction| transaction.is_aborted = true);
            self.tell(history::known(&self.shared.stage, &payload));
            return Err(SqlError::UniqueViolation);
        }
        self.will(Change::Webhook { event_id, payload })
    }

    fn take(&self, now_ms: i64) -> Option<Message> {
        let taken = self.shared.book().free().find(|message| message.due_ms <= now_ms).cloned();
        if let Some(message) = &taken {
            self.change(|transaction| _ = transaction.locked.insert(message.id));
            self.tell(history::taken(&self.shared.stage, message));
        }
        taken
    }

    fn payload(&self, id: i64) -> Option<String> {
        self.shared.book().tables.outbox.get(&id).map(|message| message.payload.clone())
    }

    fn will(&self, change: Change) -> Outcome {
        self.change(|transaction| transaction.changes.push(change));
        Ok(Answer::Done)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Transaction) -> T) -> T {
        change(self.shared.book().open.entry(self.number).or_default())
    }

    fn tell(&self, event: Event) {
        self.shared.stage.record(clock::ms(self.world.since_boot()), DATABASE, event);
    }

    fn tell_that_it_ended(&self) {
        self.shared.ended.send_modify(|ended| *ended += 1);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A panic elsewhere has ended the run already.
        let _ = self.roll_back();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use onceproof_gateway::real::TokioWorld;

    use super::super::Postgres;
    use super::*;
    use crate::{plan::Scenario, sim::stage::Stage};

    fn postgres() -> Postgres {
        let (_, source) = crate::plan::embedded().into_iter().next().expect("there are scenarios");
        let scenario = Scenario::parse("any", &source).expect("an embedded scenario is good");
        Postgres::new(Stage::new(&scenario, 1))
    }

    fn session(postgres: &Postgres) -> Session {
        Session::new(&postgres.shared, &TokioWorld::shared())
    }

    fn insert(id: &str) -> Statement {
        Statement::InsertWebhook { event_id: id.into(), payload: "{}".into() }
    }

    fn message() -> Statement {
        Statement::InsertMessage { payload: "{}".into(), due_ms: 5 }
    }

    /// What a session says at once: it waits for nobody.
    fn at_once(session: &Session, statement: Statement) -> Outcome {
        session.execute(statement).now_or_never().expect("nothing to wait for")
    }

    fn all(session: &Session, statements: impl IntoIterator<Item = Statement>) {
        statements
            .into_iter()
            .for_each(|statement| assert_eq!(at_once(session, statement), Ok(Answer::Done)));
    }

    fn taken(session: &Session) -> Option<i64> {
        match at_once(session, Statement::TakeMessage { now_ms: 5 }) {
            Ok(Answer::Message(message)) => message.map(|message| message.id),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_id_that_is_committed_is_refused_and_the_transaction_is_aborted() {
        let postgres = postgres();
        let (one, other) = (session(&postgres), session(&postgres));
        all(&one, [Statement::Begin, insert("a"), Statement::Commit, Statement::Begin, insert("b")]);
        assert_eq!(at_once(&one, insert("a")), Err(SqlError::UniqueViolation));
        assert_eq!(at_once(&one, message()), Err(SqlError::Aborted));
        all(&one, [Statement::Commit]);
        all(&other, [insert("b"), Statement::Rollback]);
        assert_eq!(postgres.next_due_ms(), None, "nothing of an aborted transaction is there");
        assert_eq!(at_once(&one, insert("b")), Err(SqlError::UniqueViolation), "alone, a statement commits");
    }

    #[test]
    fn an_id_that_is_not_committed_is_waited_for() {
        for (end, then) in
            [(Statement::Commit, Err(SqlError::UniqueViolation)), (Statement::Rollback, Ok(Answer::Done))]
        {
            let postgres = postgres();
            let (one, other) = (session(&postgres), session(&postgres));
            all(&one, [Statement::Begin, insert("a")]);
            all(&other, [Statement::Begin, insert("b")]);
            let mut waits = Box::pin(other.execute(insert("a")));
            assert_eq!(waits.as_mut().now_or_never(), None);
            all(&one, [end]);
            assert_eq!(waits.as_mut().now_or_never(), Some(then));
        }
    }

    #[test]
    fn a_connection_that_ends_takes_its_transaction_along() {
        let postgres = postgres();
        let (one, other) = (session(&postgres), session(&postgres));
        all(&one, [Statement::Begin, insert("a"), message()]);
        drop(one);
        all(&other, [Statement::Begin, insert("a"), Statement::Commit]);
        assert_eq!(postgres.next_due_ms(), None);
    }

    #[test]
    fn a_message_is_one_transactions_until_that_ends() {
        let postgres = postgres();
        let (one, other) = (session(&postgres), session(&postgres));
        all(&one, [message(), message(), Statement::Begin]);
        all(&other, [Statement::Begin]);
        assert_eq!((taken(&one), taken(&other), taken(&other)), (Some(1), Some(2), None));
        all(&one, [Statement::DeleteMessage { id: 1 }]);
        drop(one);
        assert_eq!(taken(&other), Some(1), "rolled back");
        let later = Statement::PostponeMessage { id: 1, attempts: 1, due_ms: 6 };
        all(&other, [later, Statement::DeleteMessage { id: 2 }, Statement::Commit, Statement::Begin]);
        assert_eq!((taken(&other), postgres.next_due_ms()), (None, Some(6)));
    }

    #[test]
    fn commits_that_are_lost_never_were() {
        let postgres = postgres();
        let one = session(&postgres);
        all(&one, [insert("a"), insert("b"), message()]);
        postgres.lose_commits(2);
        assert_eq!(postgres.next_due_ms(), None);
        assert_eq!(at_once(&one, insert("a")), Err(SqlError::UniqueViolation));
        all(&one, [insert("b")]);
    }
}
