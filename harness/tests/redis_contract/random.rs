//! Random commands, the same for every Redis: what nobody thought of writing down.

use onceproof::sim::chance::Chance;
use redis::ProtocolVersion;

use crate::client::{Checked, Client, Place};

/// How many commands are said.
const COMMANDS: usize = 400;

const SHAPES: &[&str] = &[
    "GET K",
    "SET K V",
    "SET K V O",
    "SET K V O O T",
    "SET K V PX 9999999 O",
    "INCR K",
    "DEL K K",
    "EXISTS K K",
    "EXPIRE K T",
    "EXPIREAT K A",
    "EXPIREAT K A O O",
    "PEXPIREAT K A",
    "SET K V EXAT A O",
    "PEXPIRE K -5",
    "PERSIST K",
    "TYPE K",
    "ZADD K S V",
    "ZADD K O S V",
    "ZADD K O O S V S V",
    "ZADD K S V S",
    "ZRANGEBYSCORE K S S",
    "ZRANGEBYSCORE K S S WITHSCORES",
    "ZRANGEBYSCORE K S S LIMIT N N",
    "ZRANGEBYSCORE K -inf +inf WITHSCORES",
    "ZRANGEBYSCORE K (S (S O O",
    "ZREM K V V",
    "ZCARD K",
    "ZSCORE K V",
    "LPUSH K V V",
    "RPUSH K V",
    "LPOP K",
    "RPOP K N",
    "LLEN K",
    "LRANGE K N N",
    "LREM K N V",
    "LMOVE K K LEFT RIGHT",
    "LMOVE K K O O",
    "RPOPLPUSH K K",
    "HSET K V V",
    "HSET K V V V",
    "HGET K V",
    "HDEL K V V",
    "HLEN K",
    "MULTI",
    "EXEC",
    "EXEC",
    "DISCARD",
    "SELECT N",
    "SELECT 0",
    "PING V",
    "FETCH K V",
    "GET K V",
    "SET K",
    "FLUSHALL O",
    "CLIENT O",
    "SCRIPT O",
    "SCRIPT FLUSH O",
    "SCRIPT EXISTS V V",
    "CLIENT GETNAME",
    "ZADD K CH 1 V 2 V",
    "RPUSH K 1 1 x 1",
    "AUTH V",
    "V V",
    "CLIENT SETNAME V",
];

const KEYS: &[&str] = &["a", "b", "c", "d"];
const VALUES: &[&str] = &["1", "x", "y", "01", "-7", "", "é", "two words"];
const NUMBERS: &[&str] = &["0", "1", "2", "-1", "-2", "5", "x", "1.5", "99999999999999999999", "+1"];
const MOMENTS: &[&str] =
    &["4102444800", "5000000000", "4102444800000", "1", "0", "-1", "x", "9223372036854775807"];
/// Far off or over: how fast a Redis is must not show.
const TIMES: &[&str] = &["100000", "200000000", "0", "-1", "x", "9223372036854775807"];
const SCORES: &[&str] = &["0", "1", "1.5", "-2", "inf", "-inf", "1e3", "nan", "x", "-0", "0.25", " 1", ""];
const OPTIONS: &[&str] = &[
    "NX",
    "xx",
    "GET",
    "KEEPTTL",
    "EX",
    "PX",
    "GT",
    "LT",
    "CH",
    "LIMIT",
    "WITHSCORES",
    "LEFT",
    "ASYNC",
    "ID2",
];

/// Says the commands of a seed, and gives what was said with what was answered.
pub async fn talk(place: Place, protocol: ProtocolVersion, seed: u64) -> Checked<Vec<String>> {
    let mut chance = Chance::new(seed, "contract");
    let mut client = Client::connect(&place, protocol).await?;
    client.talk(&[("FLUSHALL", "OK")]).await?;
    let mut said = Vec::new();
    for _ in 0..COMMANDS {
        let words: Vec<String> =
            pick(&mut chance, SHAPES).split(' ').map(|word| fill(&mut chance, word)).collect();
        let reply = client.ask(&words.iter().map(String::as_bytes).collect::<Vec<_>>()).await;
        said.push(format!("{words:?}: {reply}"));
    }
    Ok(said)
}

fn fill(chance: &mut Chance, word: &str) -> String {
    let bare = word.trim_start_matches('(');
    let filled = match bare {
        "K" => pick(chance, KEYS),
        "V" => pick(chance, VALUES),
        "N" => pick(chance, NUMBERS),
        "T" => pick(chance, TIMES),
        "A" => pick(chance, MOMENTS),
        "S" => pick(chance, SCORES),
        "O" => pick(chance, OPTIONS),
        other => other,
    };
    format!("{}{filled}", &word[..word.len() - bare.len()])
}

fn pick<'a>(chance: &mut Chance, from: &[&'a str]) -> &'a str {
    from[usize::try_from(chance.between(0, from.len() as u64 - 1)).expect("small")]
}
