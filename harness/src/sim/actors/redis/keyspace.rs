//! What a Redis remembers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::sorted::SortedSet;

/// How many databases there are.
pub const DATABASES: u32 = 16;

/// A key of one database.
pub type Key = Vec<u8>;

/// All databases of one Redis.
#[derive(Debug, Clone, Default)]
pub struct Keyspace {
    databases: BTreeMap<u32, BTreeMap<Key, Entry>>,
    /// What expires, by when. So nothing that has expired is ever found, and nobody has to look for it.
    due: BTreeSet<(i64, u32, Key)>,
}

#[derive(Debug, Clone)]
struct Entry {
    value: Value,
    expires_ms: Option<i64>,
}

/// A value of one of the types.
#[derive(Debug, Clone)]
pub enum Value {
    /// A string.
    Text(Vec<u8>),
    /// A list.
    List(VecDeque<Vec<u8>>),
    /// A hash. Redis promises no order, so it is that of the fields.
    Hash(BTreeMap<Vec<u8>, Vec<u8>>),
    /// A sorted set.
    Sorted(SortedSet),
}

impl Value {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::List(list) => list.is_empty(),
            Self::Hash(hash) => hash.is_empty(),
            Self::Sorted(set) => set.len() == 0,
        }
    }

    /// The name of its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::List(_) => "list",
            Self::Hash(_) => "hash",
            Self::Sorted(_) => "zset",
        }
    }
}

impl Keyspace {
    /// Forgets what has expired by now.
    pub fn expire(&mut self, now_ms: i64) {
        while self.due.first().is_some_and(|(at_ms, ..)| *at_ms <= now_ms) {
            if let Some((_, database, key)) = self.due.pop_first() {
                self.remove(database, &key);
            }
        }
    }

    /// The value of a key.
    pub fn get(&self, database: u32, key: &[u8]) -> Option<&Value> {
        Some(&self.databases.get(&database)?.get(key)?.value)
    }

    /// The value of a key, which is made if there is none. Whoever may leave it empty must [`Self::tidy`] it.
    pub fn get_or_insert(&mut self, database: u32, key: &[u8], empty: Value) -> &mut Value {
        let entries = self.databases.entry(database).or_default();
        let entry = entries.entry(key.to_vec()).or_insert(Entry { value: empty, expires_ms: None });
        &mut entry.value
    }

    /// Removes a key whose value has become empty.
    pub fn tidy(&mut self, database: u32, key: &[u8]) {
        if self.get(database, key).is_some_and(Value::is_empty) {
            self.remove(database, key);
        }
    }

    /// Sets a key, with or without an end to it.
    pub fn set(&mut self, database: u32, key: &[u8], value: Value, expires_ms: Option<i64>) {
        self.remove(database, key);
        let entries = self.databases.entry(database).or_default();
        entries.insert(key.to_vec(), Entry { value, expires_ms: None });
        self.set_expiry(database, key, expires_ms);
    }

    /// Removes a key, and says whether there was one.
    pub fn remove(&mut self, database: u32, key: &[u8]) -> bool {
        let removed = self.databases.get_mut(&database).and_then(|entries| entries.remove(key));
        if let Some(at_ms) = removed.as_ref().and_then(|entry| entry.expires_ms) {
            self.due.remove(&(at_ms, database, key.to_vec()));
        }
        removed.is_some()
    }

    /// When a key expires.
    pub fn expiry(&self, database: u32, key: &[u8]) -> Option<i64> {
        self.databases.get(&database)?.get(key)?.expires_ms
    }

    /// Gives an existing key another end, or none.
    pub fn set_expiry(&mut self, database: u32, key: &[u8], expires_ms: Option<i64>) {
        let Some(entry) = self.databases.get_mut(&database).and_then(|entries| entries.get_mut(key)) else {
            return;
        };
        let before = std::mem::replace(&mut entry.expires_ms, expires_ms);
        if let Some(at_ms) = before {
            self.due.remove(&(at_ms, database, key.to_vec()));
        }
        if let Some(at_ms) = expires_ms {
            self.due.insert((at_ms, database, key.to_vec()));
        }
    }

    /// How many keys a database has.
    pub fn len(&self, database: u32) -> usize {
        self.databases.get(&database).map_or(0, BTreeMap::len)
    }

    /// Empties every database.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Removes the keys that `matches` picks, in every database.
    pub fn evict(&mut self, matches: impl Fn(&[u8]) -> bool) {
        let keys = self.databases.iter().flat_map(|(database, entries)| {
            entries.keys().filter(|key| matches(key)).map(|key| (*database, key.clone()))
        });
        for (database, key) in keys.collect::<Vec<_>>() {
            self.remove(database, &key);
        }
    }
}
