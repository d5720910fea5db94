//! Commands on hashes.

use std::collections::BTreeMap;

use super::{Call, Outcome, Spec, WRONG_TYPE, bytes_or_nil, count, grow, read, write, wrong_arity};
use crate::sim::actors::redis::{keyspace::Value, resp::Reply};

type Hash = BTreeMap<Vec<u8>, Vec<u8>>;

pub const ALL: &[Spec] = &[
    grow("hset", -4, set),
    read("hget", 3, |call| {
        Ok(bytes_or_nil(existing(call)?.and_then(|hash| hash.get(call.word(2))).cloned()))
    }),
    write("hdel", -3, del),
    read("hgetall", 2, get_all),
    read("hlen", 2, |call| count(existing(call)?.map_or(0, Hash::len))),
];

fn existing<'a>(call: &'a Call<'_>) -> Result<Option<&'a Hash>, String> {
    match call.keyspace.get(call.database, call.word(1)) {
        None => Ok(None),
        Some(Value::Hash(hash)) => Ok(Some(hash)),
        Some(_) => Err(WRONG_TYPE.into()),
    }
}

/// Hands the hash to `change`, and removes it if that leaves it empty.
fn edit<T>(call: &mut Call<'_>, change: impl FnOnce(&mut Hash) -> T) -> Result<T, String> {
    let (database, key) = (call.database, call.word(1).to_vec());
    let changed = match call.keyspace.get_or_insert(database, &key, Value::Hash(Hash::new())) {
        Value::Hash(hash) => change(hash),
        _ => return Err(WRONG_TYPE.into()),
    };
    call.keyspace.tidy(database, &key);
    Ok(changed)
}

fn set(call: &mut Call<'_>) -> Outcome {
    let pairs = call.words[2..].to_vec();
    if !pairs.len().is_multiple_of(2) {
        return Err(wrong_arity("hset"));
    }
    edit(call, |hash| {
        let new = |pair: &&[Vec<u8>]| hash.insert(pair[0].clone(), pair[1].clone()).is_none();
        pairs.chunks_exact(2).filter(new).count()
    })
    .and_then(count)
}

fn del(call: &mut Call<'_>) -> Outcome {
    let fields = call.words[2..].to_vec();
    edit(call, |hash| fields.iter().filter(|field| hash.remove(*field).is_some()).count()).and_then(count)
}

fn get_all(call: &mut Call<'_>) -> Outcome {
    let bytes = |bytes: &Vec<u8>| Reply::Bytes(bytes.clone());
    let pairs = existing(call)?.into_iter().flatten();
    Ok(Reply::Map(pairs.map(|(field, value)| (bytes(field), bytes(value))).collect()))
}
