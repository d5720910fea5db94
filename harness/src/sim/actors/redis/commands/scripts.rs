//! The scripts that are known: there is no Lua in here, only what locks are released and kept with, and BullMQ's.

use sha1::{Digest, Sha1};

use super::{Call, NO_INTEGER, Outcome, Spec, bullmq, find, strings::text, write};
use crate::sim::actors::redis::resp::{Reply, number};

pub const ALL: &[Spec] = &[write("eval", -3, eval)];

/// Deletes a key that has a value still.
const COMPARE_AND_DELETE: &str =
    "if redis.call('get',KEYS[1])==ARGV[1]then return redis.call('del',KEYS[1])else return 0 end";
/// Gives a key that has a value still more time.
const COMPARE_AND_EXPIRE: &str =
    "if redis.call('get',KEYS[1])==ARGV[1]then return redis.call('pexpire',KEYS[1],ARGV[2])else return 0 end";

/// By what a script is called once it was loaded.
pub fn sha(script: &[u8]) -> Vec<u8> {
    Sha1::digest(script).iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

/// What a script does where its key still has the value.
#[derive(Debug, Clone, Copy)]
enum Known {
    Delete,
    Expire,
}

impl Known {
    fn read(script: &[u8]) -> Result<Self, String> {
        let meant = canonical(script);
        if meant == canonical(COMPARE_AND_DELETE.as_bytes()) {
            Ok(Self::Delete)
        } else if meant == canonical(COMPARE_AND_EXPIRE.as_bytes()) {
            Ok(Self::Expire)
        } else {
            Err(UNKNOWN.into())
        }
    }
}

/// Begins as Redis begins when Lua cannot read a script, and goes on with the truth.
const UNKNOWN: &str = "ERR Error compiling script (new function): user_script:1: the simulated Redis knows only \
                       compare-and-delete and compare-and-expire";

/// A script without what does not matter: spaces, the kind of quotes, the case of a command's name.
fn canonical(script: &[u8]) -> Vec<u8> {
    let dense = script.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != b';');
    dense.map(|byte| if *byte == b'"' { b'\'' } else { byte.to_ascii_lowercase() }).collect()
}

/// Whether a script can be loaded.
///
/// # Errors
/// It is none of the known ones.
pub fn check(script: &[u8]) -> Result<(), String> {
    match bullmq::known(script) {
        Some(_) => Ok(()),
        None => Known::read(script).map(drop),
    }
}

/// `EVAL script numkeys key… argument…`
fn eval(call: &mut Call<'_>) -> Outcome {
    let keys = number(call.word(2)).ok_or(NO_INTEGER)?;
    let keys = usize::try_from(keys).map_err(|_| "ERR Number of keys can't be negative")?;
    if keys > call.words.len() - 3 {
        return Err("ERR Number of keys can't be greater than number of args".into());
    }
    let (keys, arguments) = call.words[3..].split_at(keys);
    if let (Some(run), Some(prefix)) = (bullmq::known(call.word(1)), keys.first()) {
        return run(&mut bullmq::Script::new(call, prefix, arguments));
    }
    let known = Known::read(call.word(1))?;
    let script = sha(call.word(1));
    let raised =
        |error: String| format!("{error} script: {}, on @user_script:1.", String::from_utf8_lossy(&script));
    let no_argument = || raised("ERR Lua redis lib command arguments must be strings or integers".into());
    let key = keys.first().ok_or_else(no_argument)?;
    let found = text(call, key).map_err(raised)?;
    if found.as_ref() != arguments.first() || found.is_none() {
        return Ok(Reply::Number(0));
    }
    let words = match known {
        Known::Delete => vec![b"del".to_vec(), key.clone()],
        Known::Expire => {
            let time = arguments.get(1).ok_or_else(no_argument)?;
            vec![b"pexpire".to_vec(), key.clone(), time.clone()]
        }
    };
    let spec = find(&words[0]).ok_or_else(no_argument)?;
    let mut inner = Call { keyspace: call.keyspace, words: &words, ..*call };
    (spec.run)(&mut inner).map_err(raised)
}
