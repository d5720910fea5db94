//! Commands on lists.

use std::collections::VecDeque;

use super::{Call, Outcome, SYNTAX, Spec, WRONG_TYPE, bytes_or_nil, count, grow, read, write, wrong_arity};
use crate::sim::actors::redis::{keyspace::Value, resp::Reply};

type List = VecDeque<Vec<u8>>;

pub const ALL: &[Spec] = &[
    grow("lpush", -3, |call| push(call, End::Left)),
    grow("rpush", -3, |call| push(call, End::Right)),
    write("lpop", -2, |call| pop(call, End::Left, "lpop")),
    write("rpop", -2, |call| pop(call, End::Right, "rpop")),
    read("llen", 2, |call| count(existing(call, call.word(1))?.map_or(0, List::len))),
    read("lrange", 4, range),
    write("lrem", 4, remove),
    grow("lmove", 5, |call| match (End::read(call.word(3)), End::read(call.word(4))) {
        (Some(from), Some(to)) => shift(call, from, to),
        _ => Err(SYNTAX.into()),
    }),
    grow("rpoplpush", 3, |call| shift(call, End::Right, End::Left)),
];

#[derive(Debug, Clone, Copy)]
enum End {
    Left,
    Right,
}

impl End {
    fn read(word: &[u8]) -> Option<Self> {
        match word.to_ascii_lowercase().as_slice() {
            b"left" => Some(Self::Left),
            b"right" => Some(Self::Right),
            _ => None,
        }
    }

    fn pop(self, list: &mut List) -> Option<Vec<u8>> {
        match self {
            Self::Left => list.pop_front(),
            Self::Right => list.pop_back(),
        }
    }

    fn push(self, list: &mut List, element: Vec<u8>) {
        match self {
            Self::Left => list.push_front(element),
            Self::Right => list.push_back(element),
        }
    }
}

fn existing<'a>(call: &'a Call<'_>, key: &[u8]) -> Result<Option<&'a List>, String> {
    match call.keyspace.get(call.database, key) {
        None => Ok(None),
        Some(Value::List(list)) => Ok(Some(list)),
        Some(_) => Err(WRONG_TYPE.into()),
    }
}

/// Hands the list to `change`, and removes it if that leaves it empty.
fn edit<T>(call: &mut Call<'_>, key: &[u8], change: impl FnOnce(&mut List) -> T) -> Result<T, String> {
    let changed = match call.keyspace.get_or_insert(call.database, key, Value::List(List::new())) {
        Value::List(list) => change(list),
        _ => return Err(WRONG_TYPE.into()),
    };
    call.keyspace.tidy(call.database, key);
    Ok(changed)
}

fn push(call: &mut Call<'_>, end: End) -> Outcome {
    let (key, elements) = (call.word(1).to_vec(), call.words[2..].to_vec());
    edit(call, &key, |list| {
        elements.into_iter().for_each(|element| end.push(list, element));
        list.len()
    })
    .and_then(count)
}

fn pop(call: &mut Call<'_>, end: End, command: &str) -> Outcome {
    let key = call.word(1).to_vec();
    match call.words.len() {
        2 => edit(call, &key, |list| end.pop(list)).map(bytes_or_nil),
        3 => {
            let wanted =
                super::super::resp::number(call.word(2)).and_then(|wanted| usize::try_from(wanted).ok());
            let wanted = wanted.ok_or("ERR value is out of range, must be positive")?;
            if existing(call, &key)?.is_none() {
                return Ok(Reply::NilArray);
            }
            let popped = edit(call, &key, |list| {
                std::iter::from_fn(|| end.pop(list)).take(wanted).map(Reply::Bytes).collect()
            });
            popped.map(Reply::Array)
        }
        _ => Err(wrong_arity(command)),
    }
}

fn range(call: &mut Call<'_>) -> Outcome {
    let (from, to) = (call.integer(2)?, call.integer(3)?);
    let Some(list) = existing(call, call.word(1))? else { return Ok(Reply::Array(Vec::new())) };
    let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
    // An index below zero counts from the end.
    let index = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
    let (from, to) = (index(from).max(0), index(to).min(length - 1));
    let size = usize::try_from(to - from.min(length) + 1).unwrap_or(0);
    let elements = list.iter().skip(usize::try_from(from).unwrap_or(usize::MAX)).take(size);
    Ok(Reply::Array(elements.cloned().map(Reply::Bytes).collect()))
}

fn remove(call: &mut Call<'_>) -> Outcome {
    let wanted = call.integer(2)?;
    let (key, element) = (call.word(1).to_vec(), call.word(3).to_vec());
    let most =
        if wanted == 0 { usize::MAX } else { usize::try_from(wanted.unsigned_abs()).unwrap_or(usize::MAX) };
    edit(call, &key, |list| {
        let mut found: Vec<usize> = (0..list.len()).filter(|at| list[*at] == element).collect();
        if wanted < 0 {
            found.reverse();
        }
        found.truncate(most);
        found.sort_unstable();
        for at in found.iter().rev() {
            list.remove(*at);
        }
        found.len()
    })
    .and_then(count)
}

fn shift(call: &mut Call<'_>, from: End, to: End) -> Outcome {
    let (source, target) = (call.word(1).to_vec(), call.word(2).to_vec());
    if existing(call, &source)?.is_none() {
        return Ok(Reply::Nil);
    }
    existing(call, &target)?;
    let element = edit(call, &source, |list| from.pop(list))?;
    if let Some(element) = &element {
        edit(call, &target, |list| to.push(list, element.clone()))?;
    }
    Ok(bytes_or_nil(element))
}
