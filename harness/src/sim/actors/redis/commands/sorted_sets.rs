//! Commands on sorted sets.

use std::ops::Bound;

use super::{Call, Outcome, SYNTAX, Spec, WRONG_TYPE, count, grow, read, write};
use crate::sim::actors::redis::{
    keyspace::Value,
    resp::Reply,
    sorted::{Score, SortedSet},
};

pub const ALL: &[Spec] = &[
    grow("zadd", -4, add),
    read("zrangebyscore", -4, range_by_score),
    write("zrem", -3, remove),
    read("zcard", 2, |call| count(existing(call)?.map_or(0, SortedSet::len))),
    read("zscore", 3, score),
];

fn existing<'a>(call: &'a Call<'_>) -> Result<Option<&'a SortedSet>, String> {
    match call.keyspace.get(call.database, call.word(1)) {
        None => Ok(None),
        Some(Value::Sorted(set)) => Ok(Some(set)),
        Some(_) => Err(WRONG_TYPE.into()),
    }
}

/// Hands the set to `change`, and removes it if that leaves it empty.
fn edit<T>(call: &mut Call<'_>, change: impl FnOnce(&mut SortedSet) -> T) -> Result<T, String> {
    let (database, key) = (call.database, call.word(1).to_vec());
    let changed = match call.keyspace.get_or_insert(database, &key, Value::Sorted(SortedSet::default())) {
        Value::Sorted(set) => change(set),
        _ => return Err(WRONG_TYPE.into()),
    };
    call.keyspace.tidy(database, &key);
    Ok(changed)
}

/// What `ZADD` was asked for.
#[derive(Default)]
struct AddOptions {
    only_new: bool,
    only_known: bool,
    only_greater: bool,
    only_less: bool,
    count_changes: bool,
}

impl AddOptions {
    /// The options, and where the pairs of scores and members begin.
    fn read(call: &Call<'_>) -> Result<(Self, usize), String> {
        let mut options = Self::default();
        let mut at = 2;
        loop {
            match call.option(at).as_slice() {
                b"nx" => options.only_new = true,
                b"xx" => options.only_known = true,
                b"gt" => options.only_greater = true,
                b"lt" => options.only_less = true,
                b"ch" => options.count_changes = true,
                b"incr" => return Err("ERR the simulated Redis has no INCR option of ZADD".into()),
                _ => break,
            }
            at += 1;
        }
        let pairs = call.words.len() - at.min(call.words.len());
        if pairs == 0 || !pairs.is_multiple_of(2) {
            return Err(SYNTAX.into());
        }
        let Self { only_new, only_known, only_greater, only_less, .. } = options;
        if only_new && only_known {
            return Err("ERR XX and NX options at the same time are not compatible".into());
        }
        if (only_greater && (only_new || only_less)) || (only_less && only_new) {
            return Err("ERR GT, LT, and/or NX options at the same time are not compatible".into());
        }
        Ok((options, at))
    }

    fn allow(&self, before: Option<Score>, after: Score) -> bool {
        match before {
            None => !self.only_known,
            Some(before) => {
                !(self.only_new || self.only_greater && after <= before || self.only_less && after >= before)
            }
        }
    }
}

fn add(call: &mut Call<'_>) -> Outcome {
    let (options, first) = AddOptions::read(call)?;
    let pairs = call.words[first..].chunks_exact(2).map(|pair| match Score::parse(&pair[0]) {
        Some(score) => Ok((score, pair[1].clone())),
        None => Err("ERR value is not a valid float".to_owned()),
    });
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    edit(call, |set| {
        let (mut added, mut changed) = (0, 0);
        for (score, member) in pairs {
            let before = set.score(&member);
            if options.allow(before, score) && before != Some(score) {
                set.insert(&member, score);
                added += usize::from(before.is_none());
                changed += 1;
            }
        }
        if options.count_changes { changed } else { added }
    })
    .and_then(count)
}

fn remove(call: &mut Call<'_>) -> Outcome {
    let members = call.words[2..].to_vec();
    edit(call, |set| members.iter().filter(|member| set.remove(member)).count()).and_then(count)
}

fn score(call: &mut Call<'_>) -> Outcome {
    let score = existing(call)?.and_then(|set| set.score(call.word(2)));
    Ok(score.map_or(Reply::Nil, |score| Reply::Score(score.get())))
}

fn range_by_score(call: &mut Call<'_>) -> Outcome {
    let (mut with_scores, mut offset, mut limit) = (false, 0, -1);
    let mut at = 4;
    while at < call.words.len() {
        match call.option(at).as_slice() {
            b"withscores" => with_scores = true,
            b"limit" if at + 2 < call.words.len() => {
                (offset, limit) = (call.integer(at + 1)?, call.integer(at + 2)?);
                at += 2;
            }
            _ => return Err(SYNTAX.into()),
        }
        at += 1;
    }
    let (min, max) = (bound(call.word(2))?, bound(call.word(3))?);
    let set = existing(call)?;
    let Ok(offset) = usize::try_from(offset) else { return Ok(Reply::Array(Vec::new())) };
    // A limit below zero is none.
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let found = set.into_iter().flat_map(|set| set.between(min, max)).skip(offset).take(limit);
    let member = |member: &[u8]| Reply::Bytes(member.to_vec());
    Ok(if with_scores {
        Reply::Pairs(found.map(|(name, score)| (member(name), Reply::Score(score.get()))).collect())
    } else {
        Reply::Array(found.map(|(name, _)| member(name)).collect())
    })
}

fn bound(text: &[u8]) -> Result<Bound<Score>, String> {
    let (score, exclusive) = match text.strip_prefix(b"(") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let score = Score::parse_bound(score).ok_or("ERR min or max is not a float")?;
    Ok(if exclusive { Bound::Excluded(score) } else { Bound::Included(score) })
}
