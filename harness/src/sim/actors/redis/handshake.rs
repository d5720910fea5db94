//! What a client says about itself and its connection.

use super::{
    commands::Outcome,
    keyspace::DATABASES,
    resp::{OK, Protocol, Reply, number},
    session::Session,
};

/// The version that is played.
const VERSION: &str = "7.2.0";

/// `HELLO [version [AUTH user password] [SETNAME name]]`
pub fn hello(session: &mut Session, words: &[Vec<u8>]) -> Outcome {
    let protocol = match words.first().map(|version| number(version)) {
        None => session.protocol,
        Some(Some(2)) => Protocol::Resp2,
        Some(Some(3)) => Protocol::Resp3,
        Some(Some(_)) => return Err("NOPROTO unsupported protocol version".into()),
        Some(None) => return Err("ERR Protocol version is not an integer or out of range".into()),
    };
    let mut rest = words.get(1..).unwrap_or_default();
    let mut name = None;
    while let [option, others @ ..] = rest {
        rest = match (option.to_ascii_lowercase().as_slice(), others) {
            (b"auth", [user, _password, others @ ..]) => {
                login(user)?;
                others
            }
            (b"setname", [wanted, others @ ..]) => {
                name = Some(client_name(wanted)?);
                others
            }
            _ => {
                let option = String::from_utf8_lossy(option);
                return Err(format!("ERR Syntax error in HELLO option '{option}'"));
            }
        };
    }
    session.protocol = protocol;
    session.name = name.unwrap_or_else(|| std::mem::take(&mut session.name));
    Ok(greeting(session))
}

fn greeting(session: &Session) -> Reply {
    let bytes = |text: &str| Reply::Bytes(text.into());
    let version = if session.protocol == Protocol::Resp3 { 3 } else { 2 };
    Reply::Map(vec![
        (bytes("server"), bytes("redis")),
        (bytes("version"), bytes(VERSION)),
        (bytes("proto"), Reply::Number(version)),
        (bytes("id"), Reply::Number(session.id)),
        (bytes("mode"), bytes("standalone")),
        (bytes("role"), bytes("master")),
        (bytes("modules"), Reply::Array(Vec::new())),
    ])
}

/// `AUTH [user] password`, on a server that has no passwords.
pub fn auth(words: &[Vec<u8>]) -> Outcome {
    match words {
        [_password] => {
            Err("ERR AUTH <password> called without any password configured for the default user. Are you \
                            sure your configuration is correct?"
                .into())
        }
        [user, _password] => login(user).map(|()| OK),
        _ => Err("ERR syntax error".into()),
    }
}

/// The one user there is needs no password, so any will do.
fn login(user: &[u8]) -> Result<(), String> {
    if user == b"default" {
        return Ok(());
    }
    Err("WRONGPASS invalid username-password pair or user is disabled.".into())
}

/// `SELECT index`
pub fn select(session: &mut Session, index: &[u8]) -> Outcome {
    let index = number(index).ok_or("ERR value is not an integer or out of range")?;
    let database = u32::try_from(index).ok().filter(|database| *database < DATABASES);
    session.database = database.ok_or("ERR DB index is out of range")?;
    Ok(OK)
}

/// `CLIENT ID`, `CLIENT GETNAME`, `CLIENT SETNAME name`, or `CLIENT SETINFO attribute value`
pub fn client(session: &mut Session, words: &[Vec<u8>]) -> Outcome {
    match (words[0].to_ascii_lowercase().as_slice(), &words[1..]) {
        (b"id", _) => Ok(Reply::Number(session.id)),
        (b"getname", _) if session.name.is_empty() => Ok(Reply::Nil),
        (b"getname", _) => Ok(Reply::Bytes(session.name.clone())),
        (b"setname", [name]) => {
            session.name = client_name(name)?;
            Ok(OK)
        }
        _ => Ok(OK),
    }
}

fn client_name(name: &[u8]) -> Result<Vec<u8>, String> {
    if name.iter().all(u8::is_ascii_graphic) {
        return Ok(name.to_vec());
    }
    Err("ERR Client names cannot contain spaces, newlines or special characters.".into())
}
