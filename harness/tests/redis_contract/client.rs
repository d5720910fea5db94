//! A client that writes commands and replies as text, so that a check reads like a transcript.

use std::time::Duration;

use onceproof_gateway::world::{SharedWorld, within};
use redis::{
    AsyncConnectionConfig, Cmd, ProtocolVersion, RedisConnectionInfo, RedisError, Value,
    aio::MultiplexedConnection,
};

/// No check waits longer than this for anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where a Redis is, and where from it is spoken to.
#[derive(Clone)]
pub struct Place {
    pub world: SharedWorld,
    pub host: String,
    pub port: u16,
}

/// What went wrong, in words: a panic would not end a simulated run.
pub type Checked<T = ()> = Result<T, String>;

pub struct Client {
    world: SharedWorld,
    redis: MultiplexedConnection,
}

impl Client {
    pub async fn connect(place: &Place, protocol: ProtocolVersion) -> Checked<Self> {
        let world = place.world.clone();
        let info = RedisConnectionInfo::default().set_protocol(protocol);
        let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
        let connecting = async {
            let io = world.connect(&place.host, place.port).await?;
            MultiplexedConnection::new_with_config(&info, io, config).await
        };
        let connected = within(&*world, PATIENCE, connecting).await.ok_or("no connection in time")?;
        let (redis, driver) = connected.map_err(|error| error.to_string())?;
        world.spawn(Box::pin(driver));
        Ok(Self { world, redis })
    }

    /// Sends one command, and gives the reply as text.
    pub async fn ask(&mut self, words: &[&[u8]]) -> String {
        let mut command = Cmd::new();
        for word in words {
            command.arg(*word);
        }
        let reply = within(&*self.world, PATIENCE, self.redis.send_packed_command(&command)).await;
        match reply {
            Some(Ok(value)) => shown(&value),
            Some(Err(error)) => shown_error(&error),
            None => "no reply in time".into(),
        }
    }

    /// As [`Self::ask`], with the words of `line`. One that has spaces stands between backticks.
    pub async fn say(&mut self, line: &str) -> String {
        let words = words(line);
        self.ask(&words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>()).await
    }

    /// Says each line, and expects what stands beside it.
    pub async fn talk(&mut self, lines: &[(&str, &str)]) -> Checked {
        for (line, expected) in lines {
            let reply = self.say(line).await;
            if reply != *expected {
                return Err(format!("{line}\n  expected: {expected}\n  replied:  {reply}"));
            }
        }
        Ok(())
    }

    /// Sends many commands at once, and gives the replies.
    pub async fn pipeline(&mut self, pipeline: &redis::Pipeline) -> Checked<String> {
        let reply = within(&*self.world, PATIENCE, pipeline.query_async::<Value>(&mut self.redis)).await;
        Ok(match reply.ok_or("no replies in time")? {
            Ok(value) => shown(&value),
            Err(error) => shown_error(&error),
        })
    }

    pub async fn pause(&self, ms: u64) {
        self.world.sleep(Duration::from_millis(ms)).await;
    }
}

fn words(line: &str) -> Vec<String> {
    let pieces = line.split('`').enumerate();
    let words = pieces.flat_map(|(number, piece)| match number % 2 {
        0 => piece.split_whitespace().map(str::to_owned).collect(),
        _ => vec![piece.to_owned()],
    });
    words.collect()
}

/// A reply as text, in which the two protocols look alike: pairs are flat, and a score is a string.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Nil => "nil".into(),
        Value::Okay => "OK".into(),
        Value::Int(number) => number.to_string(),
        Value::SimpleString(word) => word.clone(),
        Value::BulkString(bytes) => format!("\"{}\"", bytes.escape_ascii()),
        Value::Double(number) => format!("\"{number}\""),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(shown_inside).collect::<Vec<_>>().join(" "))
        }
        Value::Map(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{} {}", shown(key), shown(value)));
            format!("[{}]", pairs.collect::<Vec<_>>().join(" "))
        }
        Value::ServerError(error) => {
            format!("{} {}", error.code(), error.details().unwrap_or_default())
        }
        other => format!("{other:?}"),
    }
}

/// Within an array, a pair is not set apart.
fn shown_inside(value: &Value) -> String {
    match value {
        Value::Array(pair) if pair.len() == 2 => format!("{} {}", shown(&pair[0]), shown(&pair[1])),
        other => shown(other),
    }
}

fn shown_error(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), detail) => format!("{code} {}", detail.unwrap_or_default()),
        (None, _) => format!("no reply: {error}"),
    }
}
