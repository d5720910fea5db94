//! Says that a message may be on its way only once it is known what became of it: whoever dies in between has sent nothing,
//! as far as anybody can tell.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use onceproof_gateway::{
    store::{Answer, Command, Reply, Store, StoreError},
    world::{BoxFuture, SharedWorld},
};

use crate::mutants::Mutation;

/// The mark is written with the outcome.
#[derive(Debug, Default)]
pub struct LateMark {
    fields: &'static str,
}

impl LateMark {
    /// The same with a lease that ends while the provider still works.
    pub const SHORT_LEASE: Self = Self { fields: "lease = \"3s\"\nskew = \"0s\"" };
}

impl Mutation for LateMark {
    fn fields(&self) -> &'static str {
        self.fields
    }

    fn store(&self, _world: &SharedWorld, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Delaying { store, marks: Arc::default() })
    }
}

/// Marks that were answered and never written, by token.
type Marks = Arc<Mutex<BTreeMap<i64, Command>>>;

struct Delaying {
    store: Arc<dyn Store>,
    marks: Marks,
}

impl Store for Delaying {
    fn execute(&self, command: Command) -> BoxFuture<Result<Answer, StoreError>> {
        let mut marks = self.marks.lock().expect("a panic in a store ends the run");
        if let Command::Mark { token, .. } = &command {
            marks.insert(*token, command);
            let reply = Reply::Applied;
            return Box::pin(async move { Ok(Answer { reply, next_due_ms: None, next_work_ms: None }) });
        }
        let is_its = |mark: &Command| match &command {
            Command::Done { reference, .. } => mark.reference() == Some(reference),
            Command::Unknown { token, .. } => mark.token() == Some(*token),
            _ => false,
        };
        let token = marks.iter().find(|(_, mark)| is_its(mark)).map(|(token, _)| *token);
        let mark = token.and_then(|token| marks.remove(&token));
        let store = Arc::clone(&self.store);
        Box::pin(async move {
            if let Some(mark) = mark {
                store.execute(mark).await?;
            }
            store.execute(command).await
        })
    }
}
