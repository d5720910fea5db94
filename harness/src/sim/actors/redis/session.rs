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
        if let Err(error) = admit(memory, &name, &command) {
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

    fn exec(&mut self, memory: &mut Memory, at: Moment) -> Outcome {
        let transaction = self.transaction.take().ok_or("ERR EXEC without MULTI")?;
        if transaction.spoilt {
            return Err("EXECABORT Transaction discarded because of previous errors.".into());
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

/// Whether a command may be run, or queued: there is one of its name, it has as many words as it takes, and there
/// is memory for it.
fn admit(memory: &Memory, name: &[u8], command: &[Vec<u8>]) -> Result<(), String> {
    let arity = match name {
        b"ping" | b"hello" => -1,
        b"auth" | b"client" | b"script" => -2,
        b"evalsha" => -3,
        b"select" => 2,
        b"multi" | b"exec" | b"discard" => 1,
        _ => {
            let spec = find(name).ok_or_else(|| unknown(command))?;
            if fits(spec.arity, command.len()) {
                memory.admits(spec)?;
            }
            spec.arity
        }
    };
    if !fits(arity, command.len()) || (name == b"ping" && command.len() > 2) {
        return Err(wrong_arity(&String::from_utf8_lossy(name)));
    }
    Ok(())
}

fn script(memory: &mut Memory, words: &[Vec<u8>]) -> Outcome {
    let what = String::from_utf8_lossy(&words[0]).to_ascii_lowercase();
    match (what.as_str(), &words[1..]) {
        ("load", [script]) => memory.load_script(script).map(Reply::Bytes),
        ("exists", shas) if !shas.is_empty() => {
            let known = shas.iter().map(|sha| Reply::Number(memory.script(sha).is_some().into()));
            Ok(Reply::Array(known.collect()))
        }
        ("flush", []) => {
            memory.forget_scripts();
            Ok(OK)
        }
        ("load" | "exists" | "flush", _) => Err(wrong_arity(&format!("script|{what}"))),
        _ => Err(handshake::unknown_subcommand(&words[0], "SCRIPT")),
    }
}

/// No command has this name. Redis quotes what it was told, up to a limit.
fn unknown(command: &[Vec<u8>]) -> String {
    const QUOTED: usize = 128;
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
