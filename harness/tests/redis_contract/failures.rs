//! The ways in which the simulated Redis fails, and that a real one words them alike.

use std::future::Future;

use onceproof::sim::actors::redis::Redis;
use redis::ProtocolVersion::RESP2;

use crate::{
    client::{Checked, Client, Place},
    real::Server,
    simulated::Simulated,
};

/// Runs a script that has the Redis in its hands.
fn with<F: Future<Output = Checked> + Send + 'static>(
    script: impl Fn(Redis, Client, Place) -> F + Send + Sync + Copy + 'static,
) {
    let simulated = Simulated::default();
    let redis = simulated.redis.clone();
    let run = simulated.run(move |place| {
        let redis = redis.clone();
        async move {
            let client = Client::connect(&place, RESP2).await?;
            script(redis, client, place).await
        }
    });
    run.unwrap();
}

#[test]
fn it_loses_its_memory() {
    with(|redis, mut client, _| async move {
        client.talk(&[("SET a 1", "OK"), ("SELECT 3", "OK"), ("RPUSH b 1", "1")]).await?;
        redis.forget_all();
        client.talk(&[("LLEN b", "0"), ("SELECT 0", "OK"), ("GET a", "nil"), ("SET a 2 NX", "OK")]).await?;
        redis.forget_last(0);
        client.talk(&[("GET a", "\"2\"")]).await
    });
}

#[test]
fn it_loses_the_last_second_and_nothing_else() {
    with(|redis, mut client, _| async move {
        client.talk(&[("SET a 1 PX 5000", "OK"), ("ZADD z 1 m", "1"), ("INCR n", "1")]).await?;
        client.pause(2000).await;
        client.talk(&[("SET a 2", "OK"), ("SET b 1 NX", "OK"), ("ZREM z m", "1"), ("INCR n", "2")]).await?;
        client.pause(500).await;
        redis.forget_last(1000);
        client.talk(&[("GET a", "\"1\""), ("GET b", "nil"), ("ZCARD z", "1"), ("GET n", "\"1\"")]).await?;
        client.pause(3000).await;
        client.talk(&[("GET a", "nil"), ("GET n", "\"1\"")]).await
    });
}

#[test]
fn what_was_lost_is_a_minute_at_most_and_what_was_lost_once_stays_lost() {
    with(|redis, mut client, _| async move {
        client.talk(&[("SET old 1", "OK"), ("SET evicted 1", "OK")]).await?;
        redis.evict("ev*");
        client.pause(100_000).await;
        client.talk(&[("SET new 1", "OK")]).await?;
        client.pause(1).await;
        redis.forget_last(200_000);
        client.talk(&[("EXISTS old", "1"), ("EXISTS new evicted", "0")]).await?;
        redis.forget_last(0);
        client.talk(&[("EXISTS old", "1"), ("EXISTS new evicted", "0")]).await
    });
}

#[test]
fn it_evicts_what_fits_a_pattern() {
    with(|redis, mut client, _| async move {
        client.talk(&[("SET seen:1 1", "OK"), ("SET seen:2 1", "OK"), ("SET lock:1 1", "OK")]).await?;
        redis.evict("seen:*");
        client.talk(&[("EXISTS seen:1 seen:2", "0"), ("EXISTS lock:1", "1")]).await
    });
}

#[test]
fn a_replica_that_lags_takes_over_and_every_connection_ends() {
    with(|redis, mut client, place| async move {
        client.talk(&[("SET a 1", "OK")]).await?;
        client.pause(1000).await;
        client.talk(&[("SET b 1", "OK")]).await?;
        client.pause(1).await;
        redis.fail_over(200);
        let broken = client.say("GET a").await;
        if !broken.starts_with("no reply: ") {
            return Err(format!("the old connection answers {broken}"));
        }
        let mut client = Client::connect(&place, RESP2).await?;
        client.talk(&[("GET a", "\"1\""), ("GET b", "nil")]).await
    });
}

const OOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";

/// What a Redis with these keys says when it is full.
const FULL: &[(&str, &str)] = &[
    ("SET new v", OOM),
    ("ZADD set 2 b", OOM),
    ("LPUSH list b", OOM),
    ("LMOVE list list LEFT LEFT", OOM),
    ("HSET hash a 1", OOM),
    ("INCR number", OOM),
    ("SET new", "ERR wrong number of arguments for 'set' command"),
    ("GET key", "\"v\""),
    ("EXPIRE key 100", "1"),
    ("ZREM set a", "1"),
    ("LPOP list", "\"a\""),
    ("DEL key", "1"),
    (
        "EVAL `if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end` 1 k v",
        "0",
    ),
    ("MULTI", "OK"),
    ("DEL key", OOM),
    ("EXEC", "EXECABORT Transaction discarded because of previous errors."),
];

const BEFORE: &[(&str, &str)] =
    &[("FLUSHALL", "OK"), ("SET key v", "OK"), ("ZADD set 1 a", "1"), ("RPUSH list a", "1")];

/// What is queued while there is room, and what becomes of it when there is none.
const QUEUED: &[(&str, &str)] = &[("MULTI", "OK"), ("GET key", "QUEUED"), ("INCR number", "QUEUED")];
const TOO_LATE: &[(&str, &str)] = &[(
    "EXEC",
    "EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.",
)];

#[test]
fn a_full_one_refuses_what_needs_memory_until_it_has_some() {
    with(|redis, mut client, _| async move {
        client.talk(BEFORE).await?;
        redis.refuse_writes(true);
        client.talk(FULL).await?;
        redis.refuse_writes(false);
        client.talk(QUEUED).await?;
        redis.refuse_writes(true);
        client.talk(TOO_LATE).await?;
        redis.refuse_writes(false);
        client.talk(&[("SET new v", "OK")]).await
    });
}

#[test]
fn a_real_full_one_says_the_same() {
    let server = Server::start();
    let real = server.run(|place| async move {
        let mut client = Client::connect(&place, RESP2).await?;
        let mut operator = Client::connect(&place, RESP2).await?;
        client.talk(BEFORE).await?;
        operator.talk(&[("CONFIG SET maxmemory 1", "OK")]).await?;
        client.talk(FULL).await?;
        operator.talk(&[("CONFIG SET maxmemory 0", "OK")]).await?;
        client.talk(QUEUED).await?;
        operator.talk(&[("CONFIG SET maxmemory 1", "OK")]).await?;
        client.talk(TOO_LATE).await?;
        operator.talk(&[("CONFIG SET maxmemory 0", "OK")]).await?;
        client.talk(&[("SET new v", "OK")]).await
    });
    real.unwrap();
}
