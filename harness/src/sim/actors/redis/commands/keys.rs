//! Commands on keys of any type.

use super::{Call, Outcome, SYNTAX, Spec, count, read, write};
use crate::sim::actors::redis::resp::{OK, Reply};

pub const ALL: &[Spec] = &[
    write("del", -2, del),
    read("exists", -2, exists),
    write("expire", -3, |call| expire(call, Unit::Seconds, "expire")),
    write("pexpire", -3, |call| expire(call, Unit::Millis, "pexpire")),
    write("expireat", -3, |call| expire(call, Unit::AtSeconds, "expireat")),
    write("pexpireat", -3, |call| expire(call, Unit::AtMillis, "pexpireat")),
    write("persist", 2, persist),
    read("pttl", 2, |call| Ok(Reply::Number(left_ms(call)))),
    read("ttl", 2, ttl),
    read("type", 2, type_of),
    read("dbsize", 1, |call| count(call.keyspace.len(call.database))),
    write("flushall", -1, flush_all),
];

/// How an end is given.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    /// So many seconds from now.
    Seconds,
    /// So many milliseconds from now.
    Millis,
    /// At so many seconds since 1970.
    AtSeconds,
    /// At so many milliseconds since 1970.
    AtMillis,
}

impl Unit {
    /// The unit of an option of `SET`, in lower case.
    pub fn of_set_option(option: &[u8]) -> Option<Self> {
        match option {
            b"ex" => Some(Self::Seconds),
            b"px" => Some(Self::Millis),
            b"exat" => Some(Self::AtSeconds),
            b"pxat" => Some(Self::AtMillis),
            _ => None,
        }
    }
}

/// The moment that the word at `at` gives, which is at least `least` in its unit.
pub fn expiry_after(
    call: &Call<'_>,
    at: usize,
    unit: Unit,
    command: &str,
    least: i64,
) -> Result<i64, String> {
    let given = call.integer(at)?;
    let millis = match unit {
        Unit::Seconds | Unit::AtSeconds => given.checked_mul(1000),
        Unit::Millis | Unit::AtMillis => Some(given),
    };
    let base_ms = match unit {
        Unit::Seconds | Unit::Millis => call.now_ms,
        Unit::AtSeconds | Unit::AtMillis => 0,
    };
    millis
        .filter(|_| given >= least)
        .and_then(|millis| millis.checked_add(base_ms))
        .ok_or_else(|| format!("ERR invalid expire time in '{command}' command"))
}

fn del(call: &mut Call<'_>) -> Outcome {
    let (keyspace, database) = (&mut *call.keyspace, call.database);
    count(call.words[1..].iter().filter(|key| keyspace.remove(database, key)).count())
}

fn exists(call: &mut Call<'_>) -> Outcome {
    let found = |key: &&Vec<u8>| call.keyspace.get(call.database, key).is_some();
    count(call.words[1..].iter().filter(found).count())
}

fn expire(call: &mut Call<'_>, unit: Unit, command: &str) -> Outcome {
    let conditions = Conditions::read(call)?;
    let at_ms = expiry_after(call, 2, unit, command, i64::MIN)?;
    let (database, key) = (call.database, call.word(1).to_vec());
    let exists = call.keyspace.get(database, &key).is_some();
    if !exists || !conditions.allow(call.keyspace.expiry(database, &key), at_ms) {
        return Ok(Reply::Number(0));
    }
    if at_ms <= call.now_ms {
        call.keyspace.remove(database, &key);
    } else {
        call.keyspace.set_expiry(database, &key, Some(at_ms));
    }
    Ok(Reply::Number(1))
}

/// When `EXPIRE` may change an end.
#[derive(Default)]
struct Conditions {
    none_yet: bool,
    one_already: bool,
    later: bool,
    earlier: bool,
}

impl Conditions {
    fn read(call: &Call<'_>) -> Result<Self, String> {
        let mut conditions = Self::default();
        for at in 3..call.words.len() {
            match call.option(at).as_slice() {
                b"nx" => conditions.none_yet = true,
                b"xx" => conditions.one_already = true,
                b"gt" => conditions.later = true,
                b"lt" => conditions.earlier = true,
                _ => {
                    return Err(format!("ERR Unsupported option {}", String::from_utf8_lossy(call.word(at))));
                }
            }
        }
        let Self { none_yet, one_already, later, earlier } = conditions;
        if none_yet && (one_already || later || earlier) {
            return Err("ERR NX and XX, GT or LT options at the same time are not compatible".into());
        }
        if later && earlier {
            return Err("ERR GT and LT options at the same time are not compatible".into());
        }
        Ok(conditions)
    }

    /// A key without an end counts as one that ends never.
    fn allow(&self, before: Option<i64>, after_ms: i64) -> bool {
        !(self.none_yet && before.is_some()
            || self.one_already && before.is_none()
            || self.later && before.is_none_or(|before_ms| after_ms <= before_ms)
            || self.earlier && before.is_some_and(|before_ms| after_ms >= before_ms))
    }
}

fn persist(call: &mut Call<'_>) -> Outcome {
    let (database, key) = (call.database, call.word(1).to_vec());
    let had_end = call.keyspace.expiry(database, &key).is_some();
    call.keyspace.set_expiry(database, &key, None);
    Ok(Reply::Number(i64::from(had_end)))
}

/// What is left of a key's time, or why there is no telling.
fn left_ms(call: &Call<'_>) -> i64 {
    match (call.keyspace.get(call.database, call.word(1)), call.keyspace.expiry(call.database, call.word(1)))
    {
        (None, _) => -2,
        (_, None) => -1,
        (_, Some(at_ms)) => at_ms - call.now_ms,
    }
}

fn ttl(call: &mut Call<'_>) -> Outcome {
    let left_ms = left_ms(call);
    Ok(Reply::Number(if left_ms < 0 { left_ms } else { left_ms.saturating_add(500) / 1000 }))
}

fn type_of(call: &mut Call<'_>) -> Outcome {
    let value = call.keyspace.get(call.database, call.word(1));
    Ok(Reply::Word(value.map_or("none", |value| value.type_name())))
}

fn flush_all(call: &mut Call<'_>) -> Outcome {
    let how = call.option(1);
    if call.words.len() > 2 || !matches!(how.as_slice(), b"" | b"sync" | b"async") {
        return Err(SYNTAX.into());
    }
    call.keyspace.clear();
    Ok(OK)
}
