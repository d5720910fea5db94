//! What the provider has done: the truth about effects.

use std::collections::BTreeMap;

/// Everything that the provider remembers.
#[derive(Default)]
pub struct Ledger {
    requests: u32,
    messages: u32,
    uploads: u32,
    /// By idempotency key: when its retention ends, and the id that was given.
    keys: BTreeMap<String, (u64, String)>,
    /// By reference: the id that was given.
    references: BTreeMap<String, String>,
    /// By operation: the id and the reference of its last message.
    sent: BTreeMap<String, (String, Option<String>)>,
    /// By media id: what was uploaded.
    media: BTreeMap<String, String>,
}

impl Ledger {
    /// Numbers a request, from 1.
    pub fn next_request(&mut self) -> u32 {
        self.requests += 1;
        self.requests
    }

    /// The id that was given to a key which is still remembered.
    pub fn by_key(&self, now_ms: u64, key: &str) -> Option<String> {
        let (until_ms, id) = self.keys.get(key)?;
        (now_ms < *until_ms).then(|| id.clone())
    }

    /// The id that was given to a reference.
    pub fn by_reference(&self, reference: &str) -> Option<String> {
        self.references.get(reference).cloned()
    }

    /// Acts: gives an id, and remembers it under key (until then) and reference.
    pub fn act(&mut self, op: &str, key: Option<(&str, u64)>, reference: Option<&str>) -> String {
        self.messages += 1;
        let id = format!("wamid.{}", self.messages);
        if let Some((key, until_ms)) = key {
            self.keys.insert(key.into(), (until_ms, id.clone()));
        }
        self.sent.insert(op.into(), (id.clone(), reference.map(str::to_owned)));
        if let Some(reference) = reference {
            self.references.insert(reference.into(), id.clone());
        }
        id
    }

    /// The id and the reference of the last message of an operation.
    pub fn sent(&self, op: &str) -> Option<(String, Option<String>)> {
        self.sent.get(op).cloned()
    }

    /// Keeps an uploaded file, which is no effect, and gives its id.
    pub fn keep_media(&mut self, content: String) -> String {
        self.uploads += 1;
        let id = format!("media.{}", self.uploads);
        self.media.insert(id.clone(), content);
        id
    }

    /// What was uploaded under this id.
    pub fn media(&self, id: &str) -> Option<&str> {
        self.media.get(id).map(String::as_str)
    }
}
