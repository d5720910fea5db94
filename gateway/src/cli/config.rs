//! The configuration's file. Every mistake is told with file, line, column, and what was expected.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

use onceproof_gateway::{
    gateway::GatewayConfig,
    http::Instance,
    inbound::{Endpoint, Inbound, Scheme, Subscriber},
    metrics::Metrics,
    policy::{Policy, PolicyError},
    provider::{Ability, ProviderConfig},
    spool::Spool,
};
use serde::Deserialize;
use toml::Spanned;

use super::{
    Failure,
    secret::{Secret, resolve},
};

/// What `serve` needs to know.
#[derive(Debug)]
pub struct Config {
    pub listen: SocketAddr,
    /// Of the SQLite file.
    pub store: PathBuf,
    /// A hint, beside the truth in the store (W5).
    pub redis: Option<Redis>,
    pub gateway: GatewayConfig,
}

/// Where a Redis is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redis {
    pub host: String,
    pub port: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "loopback")]
    listen: SocketAddr,
    /// Relative to the configuration's folder.
    store: PathBuf,
    /// Where uploads wait for their last byte; the store's folder, where it is not said.
    spool: Option<PathBuf>,
    #[serde(default = "strict")]
    profile: Spanned<String>,
    #[serde(default)]
    policy: BTreeMap<Spanned<String>, toml::Value>,
    account_token: Option<Secret>,
    account_token_env: Option<Spanned<String>>,
    admin_token: Option<Secret>,
    admin_token_env: Option<Spanned<String>>,
    provider: Provider,
    #[serde(default, rename = "instance")]
    instances: Vec<Spanned<Tenant>>,
    #[serde(default, rename = "webhook")]
    webhooks: Vec<Spanned<Webhook>>,
    redis: Option<Redis>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Webhook {
    provider: String,
    scheme: Spanned<String>,
    secret: Option<Secret>,
    secret_env: Option<Spanned<String>>,
    verify_token: Option<Secret>,
    verify_token_env: Option<Spanned<String>>,
    /// Which instance answers.
    instance: String,
    /// Who acts on what comes in; without any, it is answered.
    #[serde(default, rename = "subscriber")]
    subscribers: Vec<Spanned<Acts>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Acts {
    name: String,
    /// Whom it writes to; whoever wrote, where it is not said.
    to: Option<String>,
    /// What comes before the text.
    lead: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Provider {
    host: String,
    port: u16,
    access_token: Option<Secret>,
    access_token_env: Option<Spanned<String>>,
    ability: Spanned<String>,
    key_retention: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tenant {
    id: String,
    phone_number_id: String,
    token: Option<Secret>,
    token_env: Option<Spanned<String>>,
    /// The second token while they are rotated.
    next_token: Option<Secret>,
    next_token_env: Option<Spanned<String>>,
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 8080))
}

fn strict() -> Spanned<String> {
    Spanned::new(0..0, "strict".into())
}

/// A mistake, and where it is.
#[derive(Debug)]
struct Mistake {
    span: Range<usize>,
    what: String,
}

impl Mistake {
    fn at<T>(place: &Spanned<T>, what: impl ToString) -> Self {
        Self { span: place.span(), what: what.to_string() }
    }
}

/// Reads and checks a configuration, with this process's environment.
pub fn read(path: &Path) -> Result<Config, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    parse(&text, folder, &|name| std::env::var(name).ok()).map_err(|Mistake { span, what }| {
        let before = text.get(..span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Failure::Usage(format!("{}:{line}:{column}: {what}", path.display()))
    })
}

type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

fn parse(text: &str, folder: &Path, environment: Environment<'_>) -> Result<Config, Mistake> {
    // The error's own display would show the line, and a token may stand there.
    let file: File = toml::from_str(text).map_err(|error| Mistake {
        span: error.span().unwrap_or_default(),
        what: error.message().to_owned(),
    })?;
    let store = folder.join(&file.store);
    let beside = store.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = beside.unwrap_or_else(|| Path::new(".")).to_owned();
    let spool = file.spool.map_or(beside, |spool| folder.join(spool));
    let instances = instances(file.instances, environment)?;
    let endpoints = webhooks(file.webhooks, &instances, environment)?;
    Ok(Config {
        listen: file.listen,
        store,
        redis: file.redis,
        gateway: GatewayConfig {
            policy: policy(&file.profile, file.policy)?,
            instances,
            account_token: token(file.account_token, file.account_token_env, environment)?,
            spool: Spool::Folder(spool),
            provider: provider(file.provider, environment)?,
            admin_token: token(file.admin_token, file.admin_token_env, environment)?,
            front: None,
            inbound: (!endpoints.is_empty()).then(|| Inbound::new(endpoints)),
            metrics: Metrics::new(),
            port: file.listen.port(),
        },
    })
}

/// Field after field, so that a mistake is told where it stands.
fn policy(
    profile: &Spanned<String>,
    fields: BTreeMap<Spanned<String>, toml::Value>,
) -> Result<Policy, Mistake> {
    let name = profile.get_ref();
    let mut all = toml::Table::new();
    let mut policy = Policy::profile(name).map_err(|error| Mistake::at(profile, error))?;
    for (field, value) in fields {
        all.insert(field.get_ref().clone(), value);
        policy = Policy::profile_with(name, &all).map_err(|error| {
            let why = match &error {
                PolicyError::Malformed(error) => error.message().to_owned(),
                PolicyError::NoProfile { .. } => error.to_string(),
            };
            Mistake::at(&field, format!("`{}`: {why}", field.get_ref()))
        })?;
    }
    Ok(policy)
}

fn instances(tenants: Vec<Spanned<Tenant>>, environment: Environment<'_>) -> Result<Vec<Instance>, Mistake> {
    let mut ids = BTreeSet::new();
    let mut instances = Vec::new();
    for tenant in tenants {
        let place = Spanned::new(tenant.span(), ());
        let Tenant { id, phone_number_id, token: first, token_env, next_token, next_token_env } =
            tenant.into_inner();
        // Both stand in paths.
        if !is_plain(&id) || !is_plain(&phone_number_id) {
            let what = "expected `id` and `phone_number_id` of 1 to 64 letters, digits, `-` or `_`, and not `account`";
            return Err(Mistake::at(&place, what));
        }
        if !ids.insert(id.clone()) {
            return Err(Mistake::at(&place, format!("expected one instance `{id}`, and this is another")));
        }
        let tokens = [token(first, token_env, environment)?, token(next_token, next_token_env, environment)?];
        let tokens: Vec<String> = tokens.into_iter().flatten().collect();
        if tokens.is_empty() {
            return Err(Mistake::at(&place, "expected `token` or `token_env`"));
        }
        instances.push(Instance { id, tokens, phone_number_id });
    }
    Ok(instances)
}

fn webhooks(
    webhooks: Vec<Spanned<Webhook>>,
    instances: &[Instance],
    environment: Environment<'_>,
) -> Result<Vec<Endpoint>, Mistake> {
    let mut endpoints: Vec<Endpoint> = Vec::new();
    for webhook in webhooks {
        let place = Spanned::new(webhook.span(), ());
        let webhook = webhook.into_inner();
        let Webhook { provider, instance, .. } = &webhook;
        if !is_plain(provider) || endpoints.iter().any(|known| known.provider == *provider) {
            let what = "expected one webhook of this `provider`, of 1 to 64 letters, digits, `-` or `_`";
            return Err(Mistake::at(&place, what));
        }
        if instances.iter().all(|known| known.id != *instance) {
            return Err(Mistake::at(&place, format!("expected an instance `{instance}`, and there is none")));
        }
        let secret = token(webhook.secret, webhook.secret_env, environment)?.filter(|it| !it.is_empty());
        endpoints.push(Endpoint {
            provider: webhook.provider,
            scheme: scheme(&webhook.scheme)?,
            secret: secret.ok_or_else(|| Mistake::at(&place, "expected `secret` or `secret_env`"))?,
            verify_token: token(webhook.verify_token, webhook.verify_token_env, environment)?,
            subscribers: subscribers(webhook.subscribers)?,
            instance: webhook.instance,
        });
    }
    Ok(endpoints)
}

fn subscribers(all: Vec<Spanned<Acts>>) -> Result<Vec<Subscriber>, Mistake> {
    if all.is_empty() {
        return Ok(vec![Subscriber::reply()]);
    }
    let mut subscribers: Vec<Subscriber> = Vec::new();
    for acts in all {
        let place = Spanned::new(acts.span(), ());
        let Acts { name, to, lead } = acts.into_inner();
        if !is_plain(&name) || name == Subscriber::GATEWAY || subscribers.iter().any(|it| it.name == name) {
            let what = "expected one subscriber of this `name`, of 1 to 64 letters, digits, `-` or `_`, and not `gateway`";
            return Err(Mistake::at(&place, what));
        }
        if to.as_ref().is_some_and(String::is_empty) {
            return Err(Mistake::at(&place, "expected a recipient in `to`, or none to answer whoever wrote"));
        }
        if subscribers.len() == Subscriber::MOST {
            return Err(Mistake::at(&place, format!("expected at most {} subscribers", Subscriber::MOST)));
        }
        let lead = lead.unwrap_or_else(|| Subscriber::reply().lead);
        subscribers.push(Subscriber { name, to, lead });
    }
    Ok(subscribers)
}

fn scheme(name: &Spanned<String>) -> Result<Scheme, Mistake> {
    match name.get_ref().as_str() {
        "hub" => Ok(Scheme::Hub),
        "stripe" => Ok(Scheme::Stripe),
        "standard-webhooks" => Ok(Scheme::StandardWebhooks),
        _ => Err(Mistake::at(name, "expected \"hub\", \"stripe\" or \"standard-webhooks\"")),
    }
}

fn provider(provider: Provider, environment: Environment<'_>) -> Result<ProviderConfig, Mistake> {
    let retention = match &provider.key_retention {
        None => Duration::from_secs(24 * 3600),
        Some(text) => humantime::parse_duration(text.get_ref())
            .map_err(|error| Mistake::at(text, format!("expected a period such as \"24h\": {error}")))?,
    };
    let ability = match provider.ability.get_ref().as_str() {
        "keyed" => Ability::Keyed { retention },
        "queryable" => Ability::Queryable,
        "echoing" => Ability::Echoing,
        "opaque" => Ability::Opaque,
        _ => {
            let what = "expected \"keyed\", \"queryable\", \"echoing\" or \"opaque\"";
            return Err(Mistake::at(&provider.ability, what));
        }
    };
    Ok(ProviderConfig {
        host: provider.host,
        port: provider.port,
        access_token: token(provider.access_token, provider.access_token_env, environment)?
            .unwrap_or_default(),
        ability,
    })
}

fn token(
    direct: Option<Secret>,
    variable: Option<Spanned<String>>,
    environment: Environment<'_>,
) -> Result<Option<String>, Mistake> {
    let span = variable.as_ref().map(Spanned::span).unwrap_or_default();
    let variable = variable.as_ref().map(|name| name.get_ref().as_str());
    let token = resolve(direct, variable, environment).map_err(|what| Mistake { span, what })?;
    Ok(token.map(Secret::reveal))
}

fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    // `account` stands for the account itself in the scopes of keys (S9).
    (1..=64).contains(&id.len()) && id != "account" && id.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
store = "keys.db"
[provider]
host = "127.0.0.1"
port = 1
ability = "keyed"
[[instance]]
id = "loja-1"
phone_number_id = "15550001"
token = "secret"
next_token_env = "NEXT"
[[webhook]]
provider = "meta"
scheme = "hub"
secret = "signs"
instance = "loja-1"
"#;

    fn parse_text(text: &str) -> Result<Config, Mistake> {
        parse(text, Path::new("/etc/onceproof"), &|name| (name == "NEXT").then(|| "other".to_owned()))
    }

    #[test]
    fn defaults_are_strict_and_loopback() {
        let config = parse_text(GOOD).unwrap();
        assert!(config.listen.ip().is_loopback());
        assert_eq!(config.store, Path::new("/etc/onceproof/keys.db"));
        assert_eq!(config.gateway.spool, Spool::Folder("/etc/onceproof".into()));
        assert_eq!(config.gateway.policy.name, "strict");
        assert_eq!(config.gateway.instances[0].tokens, ["secret", "other"]);
        assert_eq!(config.gateway.inbound.as_ref().unwrap().endpoints[0].scheme, Scheme::Hub);
        assert_eq!(config.gateway.inbound.as_ref().unwrap().endpoints[0].subscribers, [Subscriber::reply()]);
        let printed = format!("{config:?}");
        assert!(!printed.contains("signs"), "{printed}");
        assert!(!printed.contains("\"secret\"") && !printed.contains("\"other\""), "{printed}");
    }

    #[test]
    fn mistakes_name_their_line_and_never_a_token() {
        for (from, to, line, expected) in [
            ("\"hub\"", "\"hubb\"", 14, "expected \"hub\""),
            ("instance = \"loja-1\"", "instance = \"loja-2\"", 12, "expected an instance `loja-2`"),
            ("secret = \"signs\"", "", 12, "expected `secret`"),
            ("store =", "stor =", 2, "unknown field `stor`"),
            ("\"keyed\"", "\"clever\"", 6, "expected \"keyed\""),
            ("\"secret\"", "12345678", 10, "a token has to be a string"),
            ("NEXT", "NOT_SET", 11, "environment variable `NOT_SET`"),
            ("loja-1", "loja/1", 7, "expected `id`"),
            ("[provider]", "[policy]\nlease = \"1 parsec\"\n[provider]", 4, "`lease`: not a period"),
            ("[provider]", "[policy]\nskew = \"1s\"\nleese = \"1s\"\n[provider]", 5, "unknown field `leese`"),
            ("store =", "profile = \"zip\"\nstore =", 2, "known are strict"),
            ("\"signs\"", "\"signs\"\nsubscriber = [{ nam = \"a\" }]", 16, "unknown field `nam`"),
            ("\"signs\"", "\"signs\"\nsubscriber = [{ name = \"gateway\" }]", 16, "and not `gateway`"),
            (
                "\"signs\"",
                "\"signs\"\nsubscriber = [{ name = \"a\" }, { name = \"a\" }]",
                16,
                "expected one subscriber",
            ),
            (
                "\"signs\"",
                "\"signs\"\nsubscriber = [{ name = \"a\", to = \"\" }]",
                16,
                "expected a recipient",
            ),
        ] {
            let text = GOOD.replace(from, to);
            let mistake = parse_text(&text).unwrap_err();
            let found = text[..mistake.span.start].matches('\n').count() + 1;
            assert!(mistake.what.contains(expected), "{}", mistake.what);
            assert_eq!(found, line, "{expected}");
            assert!(!mistake.what.contains("12345678"));
        }
    }
}
