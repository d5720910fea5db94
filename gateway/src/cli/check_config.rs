//! What a configuration promises and what it gives up, in plain words.

use std::time::Duration;

use humantime::format_duration;
use onceproof_gateway::{
    http::{CONCURRENT_FORMS, MAX_FORM},
    policy::{Ambiguous, Answers, Policy, StoreDown},
    provider::Ability,
};

use super::{Failure, config::Config};

/// For how long a key may come back: a job that was redriven at the last moment (W8), and the queue before it (M3).
const OLDEST_REPETITION: Duration = Duration::from_secs(14 * 24 * 3600 + 5 * 60);

/// What is to be said of a configuration.
#[derive(Debug, Default)]
pub struct Findings {
    /// What holds.
    pub promises: Vec<String>,
    /// What does not, by decision.
    pub gives_up: Vec<String>,
    /// Why it does not run: with these the protocol's own assumptions fail.
    pub refusals: Vec<String>,
}

/// Prints what is to be said; a refusal is a mistake in the configuration.
pub fn print(config: &Config) -> Result<(), Failure> {
    let findings = check(config);
    for promise in &findings.promises {
        println!("promises: {promise}");
    }
    for loss in &findings.gives_up {
        println!("gives up: {loss}");
    }
    refuse(&findings)
}

/// Fails where something is refused.
pub fn refuse(findings: &Findings) -> Result<(), Failure> {
    match findings.refusals.is_empty() {
        true => Ok(()),
        false => Err(Failure::Usage(format!("refused: {}", findings.refusals.join("\nrefused: ")))),
    }
}

/// Everything that is to be said.
pub fn check(config: &Config) -> Findings {
    let mut findings = Findings::default();
    let policy = &config.gateway.policy;
    check_lease(policy, &mut findings);
    check_durability(policy, &mut findings);
    check_outcomes(policy, config.gateway.provider.ability, &mut findings);
    check_horizon(policy, &mut findings);
    check_surroundings(config, &mut findings);
    findings
}

/// S10: whoever takes over must find the first attempt over.
fn check_lease(policy: &Policy, findings: &mut Findings) {
    let least = policy.provider_timeout + policy.skew;
    match policy.lease >= least {
        true => findings.promises.push(format!(
            "two gateways never send for one key at a time: a lease of {} outlasts the provider's timeout and the skew \
             ({}) (S10)",
            plain(policy.lease),
            plain(least)
        )),
        false => findings.refusals.push(format!(
            "`lease` is {}, and has to be at least `provider_timeout` + `skew`, which is {} (S10)",
            plain(policy.lease),
            plain(least)
        )),
    }
}

/// S5, S10.
fn check_durability(policy: &Policy, findings: &mut Findings) {
    match policy.answers {
        Answers::Durable => findings.promises.push(
            "a claim, a mark and an answer are on the disk (SQLite, synchronous=FULL) before anything follows from them \
             (S5, S10)"
                .into(),
        ),
        Answers::Memory => findings.gives_up.push(
            "records live in memory: after a restart a repetition is a second message (S5, S10)".into(),
        ),
    }
    match policy.store_down {
        StoreDown::Refuse => {
            findings
                .promises
                .push("while the store is down nothing is sent, and callers hear 503 (S7)".into());
        }
        StoreDown::SendUnprotected => {
            let loss = "while the store is down messages go out unprotected, and say so (S7)";
            findings.gives_up.push(loss.into());
        }
    }
}

/// S6.
fn check_outcomes(policy: &Policy, ability: Ability, findings: &mut Findings) {
    match policy.ambiguous {
        Ambiguous::Unknown => findings
            .promises
            .push("an outcome that cannot be told is `unknown`, and never guessed (S6, S10)".into()),
        Ambiguous::StoreAndReplay => findings
            .gives_up
            .push("an outcome that cannot be told is replayed as an error, whatever it was (S6)".into()),
    }
    match ability {
        Ability::Keyed { retention } if retention > policy.dead_after() => findings.promises.push(format!(
            "what is `unknown` is asked again under the same key, for {} (S10)",
            plain(retention - policy.dead_after())
        )),
        Ability::Keyed { retention } => findings.gives_up.push(format!(
            "the provider remembers a key for {}, which no re-ask fits into: what is `unknown` stays so until an \
             operator settles it (S10)",
            plain(retention)
        )),
        _ => findings
            .gives_up
            .push("what is `unknown` may stay so until an operator settles it: the provider takes no key".into()),
    }
}

/// M3: retention of keys >= the oldest repetition + skew.
fn check_horizon(policy: &Policy, findings: &mut Findings) {
    let kept = policy.ttl.saturating_add(policy.tombstone);
    let needed = OLDEST_REPETITION + policy.skew;
    match kept >= needed {
        true => findings.promises.push(format!(
            "a key is remembered for {}, longer than a producer's last repetition may be away ({}) (S5, M3)",
            plain(kept),
            plain(needed)
        )),
        false => findings.gives_up.push(format!(
            "a key is forgotten after {}, and a producer's last repetition may be {} away: it would be a second message \
             (S5, M3)",
            plain(kept),
            plain(needed)
        )),
    }
}

fn check_surroundings(config: &Config, findings: &mut Findings) {
    findings.promises.push(format!(
        "an upload has at most {} MiB, and {CONCURRENT_FORMS} are held at a time (S8)",
        MAX_FORM / (1024 * 1024)
    ));
    if !config.listen.ip().is_loopback() {
        let loss = format!(
            "{} is reached from other hosts, and speaks no TLS: put a proxy before it",
            config.listen
        );
        findings.gives_up.push(loss);
    }
}

/// humantime knows months, and nobody knows how long these are.
fn plain(period: Duration) -> String {
    const DAY: u64 = 24 * 3600;
    match (period.as_secs() / DAY, period - Duration::from_secs(period.as_secs() / DAY * DAY)) {
        (0, rest) => format_duration(rest).to_string(),
        (days, Duration::ZERO) => format!("{days}d"),
        (days, rest) => format!("{days}d {}", format_duration(rest)),
    }
}
