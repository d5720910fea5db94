//! The contract: what is said, and what is answered.

use redis::ProtocolVersion;

use crate::client::{Checked, Client, Place};

const STRINGS: &[(&str, &str)] = &[
    ("GET k", "nil"),
    ("SET k v", "OK"),
    ("GET k", "\"v\""),
    ("SET k w NX", "nil"),
    ("SET k w NX EX 10", "nil"),
    ("TTL k", "-1"),
    ("SET k w XX", "OK"),
    ("SET other w XX", "nil"),
    ("SET k x GET", "\"w\""),
    ("SET k y NX GET", "\"x\""),
    ("set K 1 ex 100 nx", "OK"),
    ("TTL K", "100"),
    ("SET K 2 KEEPTTL", "OK"),
    ("TTL K", "100"),
    ("SET K 3", "OK"),
    ("TTL K", "-1"),
    ("SET past 1 PXAT 1", "OK"),
    ("GET past", "nil"),
    ("DEL k K nothing k", "2"),
    ("EXISTS k", "0"),
    ("SET empty ``", "OK"),
    ("GET empty", "\"\""),
    ("EXISTS empty empty k", "2"),
    ("INCR n", "1"),
    ("INCR n", "2"),
    ("GET n", "\"2\""),
    ("SET n 9223372036854775807", "OK"),
    ("INCR n", "ERR increment or decrement would overflow"),
    ("SET n 01", "OK"),
    ("INCR n", "ERR value is not an integer or out of range"),
    ("SET k v EX", "ERR syntax error"),
    ("SET k v NX XX", "ERR syntax error"),
    ("SET k v EX 1 PX 1", "ERR syntax error"),
    ("SET k v EX 1 KEEPTTL", "ERR syntax error"),
    ("SET k v EX 0", "ERR invalid expire time in 'set' command"),
    ("SET k v PX -1", "ERR invalid expire time in 'set' command"),
    ("SET k v EX 9223372036854775807", "ERR invalid expire time in 'set' command"),
    ("SET k v EX soon", "ERR value is not an integer or out of range"),
    ("GET k", "nil"),
];

const KEYS: &[(&str, &str)] = &[
    ("PTTL k", "-2"),
    ("EXPIRE k 10", "0"),
    ("SET k v", "OK"),
    ("PTTL k", "-1"),
    ("EXPIRE k 10", "1"),
    ("EXPIRE k 20 NX", "0"),
    ("EXPIRE k 20 GT", "1"),
    ("EXPIRE k 30 LT", "0"),
    ("TTL k", "20"),
    ("PERSIST k", "1"),
    ("PERSIST k", "0"),
    ("EXPIRE k 20 XX", "0"),
    ("EXPIRE k 20 GT", "0"),
    ("PEXPIRE k 20000 LT", "1"),
    ("TTL k", "20"),
    ("EXPIRE k 10 NX GT", "ERR NX and XX, GT or LT options at the same time are not compatible"),
    ("EXPIRE k 10 GT LT", "ERR GT and LT options at the same time are not compatible"),
    ("EXPIRE k 10 OFTEN", "ERR Unsupported option OFTEN"),
    ("EXPIRE k 9223372036854775807", "ERR invalid expire time in 'expire' command"),
    ("PEXPIRE k 9223372036854775807", "ERR invalid expire time in 'pexpire' command"),
    ("PEXPIRE k soon", "ERR value is not an integer or out of range"),
    ("PEXPIRE k -1", "1"),
    ("EXISTS k", "0"),
    ("TYPE k", "none"),
    ("SET k v", "OK"),
    ("TYPE k", "string"),
    ("DBSIZE", "1"),
    ("SELECT 1", "OK"),
    ("GET k", "nil"),
    ("SELECT 16", "ERR DB index is out of range"),
    ("SELECT -1", "ERR DB index is out of range"),
    ("SELECT one", "ERR value is not an integer or out of range"),
    ("SET k elsewhere", "OK"),
    ("SELECT 0", "OK"),
    ("GET k", "\"v\""),
    ("FLUSHALL NOW", "ERR syntax error"),
    ("FLUSHALL SYNC", "OK"),
    ("DBSIZE", "0"),
];

const SORTED_SETS: &[(&str, &str)] = &[
    ("ZADD z 2 b 1 a", "2"),
    ("ZADD z NX 9 a 3 c", "1"),
    ("ZADD z XX 9 d", "0"),
    ("ZADD z CH 5 b 3 c 4 d", "2"),
    ("ZADD z GT 1 b", "0"),
    ("ZADD z LT CH 2 b", "1"),
    ("ZADD z 2 B 2 ba", "2"),
    ("ZCARD z", "6"),
    ("ZSCORE z b", "\"2\""),
    ("ZSCORE z nobody", "nil"),
    ("ZRANGEBYSCORE z -inf +inf", "[\"a\" \"B\" \"b\" \"ba\" \"c\" \"d\"]"),
    ("ZRANGEBYSCORE z 2 3 WITHSCORES", "[\"B\" \"2\" \"b\" \"2\" \"ba\" \"2\" \"c\" \"3\"]"),
    ("ZRANGEBYSCORE z (2 (4", "[\"c\"]"),
    ("ZRANGEBYSCORE z -inf inf LIMIT 1 2", "[\"B\" \"b\"]"),
    ("ZRANGEBYSCORE z 0 10 LIMIT 4 -1 withscores", "[\"c\" \"3\" \"d\" \"4\"]"),
    ("ZRANGEBYSCORE z 0 10 LIMIT -1 5", "[]"),
    ("ZRANGEBYSCORE z 0 10 LIMIT 0 0", "[]"),
    ("ZRANGEBYSCORE z 3 1", "[]"),
    ("ZRANGEBYSCORE nothing 0 1", "[]"),
    ("ZADD z 1.5 half -1e3 low inf top", "3"),
    ("ZRANGEBYSCORE z 1.5 1.5 WITHSCORES", "[\"half\" \"1.5\"]"),
    ("ZRANGEBYSCORE z -inf (1 WITHSCORES", "[\"low\" \"-1000\"]"),
    ("ZRANGEBYSCORE z (4 +inf WITHSCORES", "[\"top\" \"inf\"]"),
    ("ZREM z a b nobody", "2"),
    ("ZREM nothing a", "0"),
    ("ZREM z B ba c d half low top", "7"),
    ("EXISTS z", "0"),
    ("ZADD z nan a", "ERR value is not a valid float"),
    ("ZADD z 1 a x b", "ERR value is not a valid float"),
    ("ZADD z 1 a 2", "ERR syntax error"),
    ("ZADD z NX XX 1 a", "ERR XX and NX options at the same time are not compatible"),
    ("ZADD z NX GT 1 a", "ERR GT, LT, and/or NX options at the same time are not compatible"),
    ("ZADD z GT LT 1 a", "ERR GT, LT, and/or NX options at the same time are not compatible"),
    ("ZRANGEBYSCORE z low high", "ERR min or max is not a float"),
    ("ZRANGEBYSCORE z 0 1 LIMIT 1", "ERR syntax error"),
    ("ZRANGEBYSCORE z 0 1 LIMIT a b", "ERR value is not an integer or out of range"),
    ("ZADD z XX 1 a", "0"),
    ("EXISTS z", "0"),
];

const LISTS: &[(&str, &str)] = &[
    ("RPUSH l a b c", "3"),
    ("LPUSH l y z", "5"),
    ("LLEN l", "5"),
    ("LRANGE l 0 -1", "[\"z\" \"y\" \"a\" \"b\" \"c\"]"),
    ("LRANGE l -2 100", "[\"b\" \"c\"]"),
    ("LRANGE l 3 1", "[]"),
    ("LRANGE l 9 12", "[]"),
    ("LRANGE l -100 0", "[\"z\"]"),
    ("LPOP l", "\"z\""),
    ("RPOP l", "\"c\""),
    ("LPOP l 2", "[\"y\" \"a\"]"),
    ("LPOP l 0", "[]"),
    ("LPOP l -1", "ERR value is out of range, must be positive"),
    ("LPOP nothing", "nil"),
    ("LPOP nothing 1", "nil"),
    ("LMOVE l m RIGHT LEFT", "\"b\""),
    ("EXISTS l", "0"),
    ("LMOVE l m LEFT LEFT", "nil"),
    ("RPUSH m c d", "3"),
    ("RPOPLPUSH m m", "\"d\""),
    ("LMOVE m m LEFT RIGHT", "\"d\""),
    ("LRANGE m 0 -1", "[\"b\" \"c\" \"d\"]"),
    ("LMOVE m m UP DOWN", "ERR syntax error"),
    ("RPUSH m b b", "5"),
    ("LREM m -2 b", "2"),
    ("LREM m 0 b", "1"),
    ("LRANGE m 0 -1", "[\"c\" \"d\"]"),
    ("RPOP m 9", "[\"d\" \"c\"]"),
    ("LLEN m", "0"),
];

const HASHES: &[(&str, &str)] = &[
    ("HSET h a 1", "1"),
    ("HSET h a 2 b 3", "1"),
    ("HGET h a", "\"2\""),
    ("HGET h nothing", "nil"),
    ("HGET nothing a", "nil"),
    ("HLEN h", "2"),
    ("HGETALL h", "[\"a\" \"2\" \"b\" \"3\"]"),
    ("HGETALL nothing", "[]"),
    ("HSET h a", "ERR wrong number of arguments for 'hset' command"),
    ("HSET h a 1 b", "ERR wrong number of arguments for 'hset' command"),
    ("HDEL h a nothing", "1"),
    ("HDEL h b", "1"),
    ("EXISTS h", "0"),
];

const WRONG: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

const MISTAKES: &[(&str, &str)] = &[
    ("SET s v", "OK"),
    ("RPUSH l a", "1"),
    ("GET l", WRONG),
    ("INCR l", WRONG),
    ("SET l v GET", WRONG),
    ("ZADD s 1 a", WRONG),
    ("ZRANGEBYSCORE s 0 1", WRONG),
    ("ZREM s a", WRONG),
    ("ZCARD l", WRONG),
    ("LPUSH s a", WRONG),
    ("LPOP s", WRONG),
    ("LMOVE l s LEFT LEFT", WRONG),
    ("LRANGE l 0 -1", "[\"a\"]"),
    ("HSET s a 1", WRONG),
    ("HGET l a", WRONG),
    ("HGETALL s", WRONG),
    ("SET l v", "OK"),
    ("GET", "ERR wrong number of arguments for 'get' command"),
    ("SET k", "ERR wrong number of arguments for 'set' command"),
    ("DBSIZE now", "ERR wrong number of arguments for 'dbsize' command"),
    ("LPOP l 1 2", "ERR wrong number of arguments for 'lpop' command"),
    ("PING a b", "ERR wrong number of arguments for 'ping' command"),
    ("FETCH k", "ERR unknown command 'FETCH', with args beginning with: 'k' "),
    ("FETCH", "ERR unknown command 'FETCH', with args beginning with: "),
    ("CLIENT FETCH", "ERR unknown subcommand 'FETCH'. Try CLIENT HELP."),
];

const CONNECTIONS: &[(&str, &str)] = &[
    ("PING", "PONG"),
    ("PING hello", "\"hello\""),
    ("CLIENT GETNAME", "nil"),
    ("CLIENT SETNAME worker-1", "OK"),
    ("CLIENT GETNAME", "\"worker-1\""),
    ("CLIENT SETNAME `worker 1`", "ERR Client names cannot contain spaces, newlines or special characters."),
    (
        "AUTH secret",
        "ERR AUTH <password> called without any password configured for the default user. Are you sure your \
         configuration is correct?",
    ),
    ("AUTH default anything", "OK"),
    ("AUTH somebody secret", "WRONGPASS invalid username-password pair or user is disabled."),
    ("HELLO 4", "NOPROTO unsupported protocol version"),
    ("HELLO three", "ERR Protocol version is not an integer or out of range"),
    ("HELLO 3 NOW", "ERR Syntax error in HELLO option 'NOW'"),
];

const TRANSACTIONS: &[(&str, &str)] = &[
    ("EXEC", "ERR EXEC without MULTI"),
    ("DISCARD", "ERR DISCARD without MULTI"),
    ("MULTI", "OK"),
    ("SET k v", "QUEUED"),
    ("GET k", "QUEUED"),
    ("LPUSH k a", "QUEUED"),
    ("EXEC", "[OK \"v\" WRONGTYPE Operation against a key holding the wrong kind of value]"),
    ("MULTI", "OK"),
    ("SET k w", "QUEUED"),
    ("MULTI", "ERR MULTI calls can not be nested"),
    ("DISCARD", "OK"),
    ("GET k", "\"v\""),
    ("MULTI", "OK"),
    ("SET k w", "QUEUED"),
    ("SET k", "ERR wrong number of arguments for 'set' command"),
    ("EXEC", "EXECABORT Transaction discarded because of previous errors."),
    ("GET k", "\"v\""),
    ("MULTI", "OK"),
    ("EXEC", "[]"),
];

const SCRIPT: &str = "if redis.call(\"get\", KEYS[1]) == ARGV[1] then\n  return redis.call(\"del\", KEYS[1])\nelse\n  \
                      return 0\nend";
const EXTEND: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) \
                      else return 0 end";

/// Every check, on a connection of this protocol.
pub async fn run(place: Place, protocol: ProtocolVersion) -> Checked {
    let mut client = Client::connect(&place, protocol).await?;
    let transcripts = [STRINGS, KEYS, SORTED_SETS, LISTS, HASHES, MISTAKES, CONNECTIONS, TRANSACTIONS];
    for transcript in transcripts {
        client.talk(&[("FLUSHALL", "OK")]).await?;
        client.talk(transcript).await?;
    }
    client.talk(&[("FLUSHALL", "OK"), ("SCRIPT FLUSH", "OK")]).await?;
    scripts(&mut client).await?;
    client.talk(&[("FLUSHALL", "OK")]).await?;
    time(&mut client).await?;
    bytes(&mut client).await?;
    pipelines(&mut client).await?;
    let mut other = Client::connect(&place, protocol).await?;
    other.talk(&[("CLIENT GETNAME", "nil"), ("FLUSHALL", "OK")]).await
}

async fn scripts(client: &mut Client) -> Checked {
    let eval = |script: &str, rest: &str| format!("EVAL `{script}` {rest}");
    let sha = client.say(&format!("SCRIPT LOAD `{SCRIPT}`")).await;
    let sha = sha.trim_matches('"').to_owned();
    let missing = "0".repeat(40);
    let wrong = format!("{WRONG} script: {sha}, on @user_script:1.");
    let no_argument = format!(
        "ERR Lua redis lib command arguments must be strings or integers script: {sha}, on @user_script:1."
    );
    client
        .talk(&[
            (&format!("SCRIPT EXISTS {sha} {missing}"), "[1 0]"),
            (&format!("EVALSHA {missing} 1 lock mine"), "NOSCRIPT No matching script. Please use EVAL."),
            ("SET lock theirs", "OK"),
            (&eval(SCRIPT, "1 lock mine"), "0"),
            (&format!("EVALSHA {sha} 1 lock mine"), "0"),
            (&eval(SCRIPT, "1 lock"), "0"),
            ("GET lock", "\"theirs\""),
            (&format!("EVALSHA {} 1 lock theirs", sha.to_uppercase()), "1"),
            ("EXISTS lock", "0"),
            (&eval(SCRIPT, "1 lock theirs"), "0"),
            ("SET lock mine", "OK"),
            (&eval(EXTEND, "1 lock theirs 20000"), "0"),
            ("TTL lock", "-1"),
            (&eval(EXTEND, "1 lock mine 20000"), "1"),
            ("TTL lock", "20"),
            (&eval(SCRIPT, "1 lock mine"), "1"),
            (&eval(SCRIPT, "-1 lock"), "ERR Number of keys can't be negative"),
            (&eval(SCRIPT, "3 lock mine"), "ERR Number of keys can't be greater than number of args"),
            (&eval(SCRIPT, "one lock mine"), "ERR value is not an integer or out of range"),
            (&eval(SCRIPT, "0 mine"), &no_argument),
            ("RPUSH list a", "1"),
            (&eval(SCRIPT, "1 list mine"), &wrong),
            ("SCRIPT FLUSH", "OK"),
            (&format!("EVALSHA {sha} 1 lock mine"), "NOSCRIPT No matching script. Please use EVAL."),
        ])
        .await?;
    let garbage = client.say(&eval("this is no Lua", "0")).await;
    let expected = "ERR Error compiling script (new function): user_script:1: ";
    if garbage.starts_with(expected) { Ok(()) } else { Err(format!("a script that is none: {garbage}")) }
}

/// Ends that come with time. All at once, since a real Redis makes us wait.
async fn time(client: &mut Client) -> Checked {
    client
        .talk(&[
            ("SET short 1 PX 500 NX", "OK"),
            ("SET short 2 PX 500 NX", "nil"),
            ("SET long 1 PX 100000", "OK"),
            ("SET replaced 1 PX 500", "OK"),
            ("SET replaced 2", "OK"),
            ("SET counted 1 PX 500", "OK"),
            ("INCR counted", "2"),
            ("RPUSH list a", "1"),
            ("PEXPIRE list 500", "1"),
            ("RPUSH list b", "2"),
            ("ZADD set 1 a", "1"),
            ("PEXPIRE set 500", "1"),
            ("HSET hash a 1", "1"),
            ("EXPIRE hash 1", "1"),
        ])
        .await?;
    let left = client.say("PTTL short").await;
    if !left.parse().is_ok_and(|left: i64| (1..=500).contains(&left)) {
        return Err(format!("what is left of 500 ms: {left}"));
    }
    client.pause(1100).await;
    client
        .talk(&[
            ("EXISTS short long replaced counted list set hash", "2"),
            ("PTTL short", "-2"),
            ("DBSIZE", "2"),
            ("SET short 3 NX PX 60000", "OK"),
            ("RPUSH list c", "1"),
            ("PTTL list", "-1"),
            ("ZCARD set", "0"),
            ("HGETALL hash", "[]"),
            ("INCR counted", "1"),
            ("PTTL counted", "-1"),
        ])
        .await
}

/// Large values, and bytes that are no text.
async fn bytes(client: &mut Client) -> Checked {
    let every: Vec<u8> = (0..=255).collect();
    for value in [every.clone(), b"\r\n$3\r\nabc\r\n".to_vec(), vec![b'x'; 1024 * 1024]] {
        let set = client.ask(&[b"SET", &every, &value]).await;
        let got = client.ask(&[b"GET", &every]).await;
        if set != "OK" || got != format!("\"{}\"", value.escape_ascii()) {
            return Err(format!("{} bytes: {set}, and back come {}", value.len(), got.len()));
        }
    }
    let mut words: Vec<Vec<u8>> = vec![b"RPUSH".to_vec(), b"many".to_vec()];
    words.extend((0..1000).map(|number| number.to_string().into_bytes()));
    let pushed = client.ask(&words.iter().map(Vec::as_slice).collect::<Vec<_>>()).await;
    if pushed == "1000" { Ok(()) } else { Err(format!("a thousand elements: {pushed}")) }
}

async fn pipelines(client: &mut Client) -> Checked {
    let mut pipeline = redis::pipe();
    pipeline.cmd("DEL").arg("n").ignore();
    for _ in 0..500 {
        pipeline.cmd("INCR").arg("n");
    }
    let counted = client.pipeline(&pipeline).await?;
    let expected: Vec<String> = (1..=500).map(|n: u32| n.to_string()).collect();
    if counted != format!("[{}]", expected.join(" ")) {
        return Err(format!("five hundred at once: {counted}"));
    }
    let mut transaction = redis::pipe();
    transaction.atomic().cmd("SET").arg("k").arg("v").cmd("GET").arg("k").cmd("ZCARD").arg("none");
    let done = client.pipeline(&transaction).await?;
    if done == "[OK \"v\" 0]" { Ok(()) } else { Err(format!("a transaction: {done}")) }
}
