//! One connection of a Redis: what it has selected, what it speaks, and the transaction that it has open.

use super::{
    commands::{Outcome, find, fits, wrong_arity},
    handshake,
    memory::{Memory, Moment},
    resp::{Command, OK, Protocol, Reply},
};

/// The state of one connection.
pub struct Session {
    /// Its number.
    pub id: i64,
    /// What it speaks.
    pub protocol: Protocol,
    /// The database that it has selected.
    pub database: u32,
    /// What it calls itself.
    pub name: Vec<u8>,
    transaction: Option<Transaction>,
}

/// What came since `MULTI`.
#[derive(Default)]
struct Transaction {
    commands: Vec<Command>,
    /// One of them was refused, so none is run.
    spoilt: bool,
}

impl Session {
    /// A connection that has said nothing yet.
    pub fn new(id: i64) -> Self {
        Self { id, protocol: Protocol::Resp2, database: 0, name: Vec::new(), transaction: None }
    }

    /// Answers one command, which has at least one word.
    pub fn answer(&mut self, memory: &mut Memory, at: Moment, command: Command) -> Reply {
        let Some(first) = command.first() else { return OK };
        let name = first.to_ascii_lowercase();
        if let Err(error) = self.admit(memory, &name, &command) {
            if let Some(transaction) = &mut self.transaction {
                transaction.spoilt = true;
            }
            return Reply::Error(error);
        }
        let outcome = match (name.as_slice(), &mut self.transaction) {
            (b"multi", None) => {
                self.transaction = Some(Transaction::default());
                Ok(OK)
            }
            (b"multi", Some(_)) => Err("ERR MULTI calls can not be nested".into()),
            (b"exec", _) => self.exec(memory, at),
            (b"discard", _) => match self.transaction.take() {
                Some(_) => Ok(OK),
                None => Err("ERR DISCARD without MULTI".into()),
            },
            (_, Some(transaction)) => {
                transaction.commands.push(command);
                Ok(Reply::Word("QUEUED"))
            }
            (_, None) => self.run(memory, at, &name, &command),
        };
        outcome.unwrap_or_else(Reply::Error)
    }

    /// Whether a command may be run, or queued: there is one of its name, it has as many words as it takes, and
    /// there is memory for it.
    fn admit(&self, memory: &Memory, name: &[u8], command: &[Vec<u8>]) -> Result<(), String> {
        let spec = find(name);
        let (full_name, arity) = match spec {
            Some(spec) => (spec.name.to_owned(), spec.arity),
            None => arity(name, command)?,
        };
        if !fits(arity, command.len()) || (name == b"ping" && command.len() > 2) {
            return Err(wrong_arity(&full_name));
        }
        // A queue needs memory whatever is in it.
        let queued = self.transaction.is_some() && !matches!(name, b"multi" | b"exec" | b"discard");
        if queued || spec.is_some_and(|spec| spec.grows) { memory.has_room() } else { Ok(()) }
    }

    fn exec(&mut self, memory: &mut Memory, at: Moment) -> Outcome {
        let transaction = self.transaction.take().ok_or("ERR EXEC without MULTI")?;
        if transaction.spoilt {
            return Err("EXECABORT Transaction discarded because of previous errors.".into());
        }
        let grows = |command: &Command| find(&command[0].to_ascii_lowercase()).is_some_and(|spec| spec.grows);
        if transaction.commands.iter().any(grows) {
            let because = |error| format!("EXECABORT Transaction discarded because of: {error}");
            memory.has_room().map_err(because)?;
        }
        let replies = transaction.commands.iter().map(|command| {
            let outcome = self.run(memory, at, &command[0].to_ascii_lowercase(), command);
            outcome.unwrap_or_else(Reply::Error)
        });
        Ok(Reply::Array(replies.collect()))
    }

    fn run(&mut self, memory: &mut Memory, at: Moment, name: &[u8], command: &[Vec<u8>]) -> Outcome {
        match name {
            b"ping" => match command.get(1) {
                None => Ok(Reply::Word("PONG")),
                Some(word) => Ok(Reply::Bytes(word.clone())),
            },
            b"hello" => handshake::hello(self, &command[1..]),
            b"auth" => handshake::auth(&command[1..]),
            b"select" => handshake::select(self, &command[1]),
            b"client" => handshake::client(self, &command[1..]),
            b"script" => script(memory, &command[1..]),
            b"evalsha" => {
                let script =
                    memory.script(&command[1]).ok_or("NOSCRIPT No matching script. Please use EVAL.")?;
                let mut command = command.to_vec();
                command[1].clone_from(script);
                self.run(memory, at, b"eval", &command)
            }
            _ => {
                let spec = find(name).ok_or_else(|| unknown(command))?;
                let outcome = memory.run(at, spec, self.database, command);
                if name == b"eval" {
                    // Redis keeps what it was made to read. What it cannot read has failed above.
                    let _ = memory.load_script(&command[1]);
                }
                outcome
            }
        }
    }
}

/// The full name of a command that is about the connection or about scripts, and how many words it takes.
fn arity(name: &[u8], command: &[Vec<u8>]) -> Result<(String, i32), String> {
    let arity = match name {
        b"ping" | b"hello" => -1,
        b"auth" => -2,
        b"evalsha" => -3,
        b"select" => 2,
        b"multi" | b"exec" | b"discard" => 1,
        b"client" | b"script" => match command.get(1) {
            Some(subcommand) => return subcommand_arity(name, subcommand),
            None => -2,
        },
        _ => return Err(unknown(command)),
    };
    Ok((String::from_utf8_lossy(name).into_owned(), arity))
}

fn subcommand_arity(name: &[u8], subcommand: &[u8]) -> Result<(String, i32), String> {
    let full_name = [name, b"|", subcommand].concat().to_ascii_lowercase();
    let full_name = String::from_utf8_lossy(&full_name).into_owned();
    let arity = match full_name.as_str() {
        "client|id" | "client|getname" => 2,
        "client|setname" | "script|load" => 3,
        "client|setinfo" => 4,
        "script|exists" => -3,
        "script|flush" => -2,
        _ => {
            let subcommand = String::from_utf8_lossy(&subcommand[..subcommand.len().min(QUOTED)]);
            let name = String::from_utf8_lossy(name).to_uppercase();
            return Err(format!("ERR unknown subcommand '{subcommand}'. Try {name} HELP."));
        }
    };
    Ok((full_name, arity))
}

/// `SCRIPT LOAD script`, `SCRIPT EXISTS hash…`, or `SCRIPT FLUSH [ASYNC|SYNC]`
fn script(memory: &mut Memory, words: &[Vec<u8>]) -> Outcome {
    match (words[0].to_ascii_lowercase().as_slice(), &words[1..]) {
        (b"load", [script]) => memory.load_script(script).map(Reply::Bytes),
        (b"exists", shas) => {
            let known = shas.iter().map(|sha| Reply::Number(memory.script(sha).is_some().into()));
            Ok(Reply::Array(known.collect()))
        }
        (_, []) => {
            memory.forget_scripts();
            Ok(OK)
        }
        (_, [how]) if matches!(how.to_ascii_lowercase().as_slice(), b"sync" | b"async") => {
            memory.forget_scripts();
            Ok(OK)
        }
        _ => Err("ERR SCRIPT FLUSH only support SYNC|ASYNC option".into()),
    }
}

/// How much of what a client said Redis quotes back.
const QUOTED: usize = 128;

/// No command has this name. Redis quotes what it was told, up to a limit.
fn unknown(command: &[Vec<u8>]) -> String {
    let mut quoted = Vec::new();
    for word in &command[1..] {
        if quoted.len() >= QUOTED {
            break;
        }
        let left = QUOTED - quoted.len();
        quoted.push(b'\'');
        quoted.extend(word.iter().take(left));
        quoted.extend_from_slice(b"' ");
    }
    let name = &command[0][..command[0].len().min(QUOTED)];
    format!(
        "ERR unknown command '{}', with args beginning with: {}",
        String::from_utf8_lossy(name),
        String::from_utf8_lossy(&quoted)
    )
}
