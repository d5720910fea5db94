//! Text that is never printed.

use std::fmt;

use serde::{Deserialize, Deserializer, de::Error};

/// A token.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn reveal(self) -> String {
        self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not `String`: its error would tell what was there instead.
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(token) if is_token(&token) => Ok(Self(token)),
            _ => Err(D::Error::custom("a token has to be a string of visible ASCII characters, in quotes")),
        }
    }
}

/// A token given directly or by the name of an environment variable.
pub fn resolve(
    direct: Option<Secret>,
    variable: Option<&str>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, String> {
    match (direct, variable) {
        (Some(_), Some(name)) => Err(format!("expected a token or its variable `{name}`, not both")),
        (direct, None) => Ok(direct),
        (None, Some(name)) => match environment(name) {
            Some(token) if is_token(&token) => Ok(Some(Secret(token))),
            Some(_) => Err(format!("expected a token of visible ASCII characters in the variable `{name}`")),
            None => Err(format!("expected the environment variable `{name}` to be set")),
        },
    }
}

fn is_token(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}
