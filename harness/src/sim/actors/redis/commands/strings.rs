//! Commands on strings.

use super::{
    Call, NO_INTEGER, Outcome, SYNTAX, Spec, WRONG_TYPE, bytes_or_nil, grow,
    keys::{Unit, expiry_after},
    read,
};
use crate::sim::actors::redis::{
    keyspace::Value,
    resp::{OK, Reply, number},
};

pub const ALL: &[Spec] = &[read("get", 2, get), grow("set", -3, set), grow("incr", 2, incr)];

/// The string of a key.
pub fn text(call: &Call<'_>, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
    match call.keyspace.get(call.database, key) {
        None => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        Some(_) => Err(WRONG_TYPE.into()),
    }
}

fn get(call: &mut Call<'_>) -> Outcome {
    text(call, call.word(1)).map(bytes_or_nil)
}

/// What `SET` was asked for besides a key and a value.
#[derive(Default)]
struct SetOptions {
    /// `NX` (false) or `XX` (true): set only if the key exists so.
    only_if: Option<bool>,
    get: bool,
    keep: bool,
    expires: Option<(Unit, usize)>,
}

impl SetOptions {
    fn read(call: &Call<'_>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut at = 3;
        while at < call.words.len() {
            let fresh = options.expires.is_none() && !options.keep;
            match call.option(at).as_slice() {
                b"nx" if options.only_if != Some(true) => options.only_if = Some(false),
                b"xx" if options.only_if != Some(false) => options.only_if = Some(true),
                b"get" => options.get = true,
                b"keepttl" if options.expires.is_none() => options.keep = true,
                unit if fresh && at + 1 < call.words.len() => {
                    let unit = Unit::of_set_option(unit).ok_or(SYNTAX)?;
                    at += 1;
                    options.expires = Some((unit, at));
                }
                _ => return Err(SYNTAX.into()),
            }
            at += 1;
        }
        Ok(options)
    }
}

fn set(call: &mut Call<'_>) -> Outcome {
    let options = SetOptions::read(call)?;
    let (database, key) = (call.database, call.word(1).to_vec());
    let expires_ms = match options.expires {
        Some((unit, at)) => Some(expiry_after(call, at, unit, "set", 1)?),
        None => call.keyspace.expiry(database, &key).filter(|_| options.keep),
    };
    let before = if options.get { bytes_or_nil(text(call, &key)?) } else { OK };
    let exists = call.keyspace.get(database, &key).is_some();
    if options.only_if.is_some_and(|wanted| wanted != exists) {
        return Ok(if options.get { before } else { Reply::Nil });
    }
    let value = Value::Text(call.word(2).to_vec());
    call.keyspace.set(database, &key, value, expires_ms);
    Ok(before)
}

fn incr(call: &mut Call<'_>) -> Outcome {
    let key = call.word(1).to_vec();
    let before = match text(call, &key)? {
        Some(text) => number(&text).ok_or(NO_INTEGER)?,
        None => 0,
    };
    let after = before.checked_add(1).ok_or("ERR increment or decrement would overflow")?;
    let expires_ms = call.keyspace.expiry(call.database, &key);
    call.keyspace.set(call.database, &key, Value::Text(after.to_string().into_bytes()), expires_ms);
    Ok(Reply::Number(after))
}
