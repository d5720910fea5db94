//! What a configuration promises and what it gives up, in plain words.

use onceproof_gateway::{
    http::{CONCURRENT_FORMS, MAX_FORM},
    inbound::Scheme,
    policy::{Ambiguous, Answers, Policy, Severity, StoreDown, plain},
    provider::Ability,
};

use super::{Failure, config::Config};

/// What is to be said of a configuration.
#[derive(Debug, Default)]
pub struct Report {
    /// What holds.
    promises: Vec<String>,
    /// What does not, by decision.
    gives_up: Vec<String>,
    /// Why it does not run: with these the protocol's own assumptions fail.
    refusals: Vec<String>,
}

impl Report {
    /// Everything that is to be said.
    pub fn of(config: &Config) -> Self {
        let mut report = Self::default();
        let policy = &config.gateway.policy;
        let ability = config.gateway.provider.ability;
        for finding in policy.check(ability) {
            match finding.severity {
                Severity::Refused => report.refusals.push(finding.text),
                Severity::Warned => report.gives_up.push(finding.text),
            }
        }
        report.tell_outside(config);
        report.promises.extend(promises(policy, ability));
        report.tell_events(config);
        report
    }

    /// A refusal is a mistake in the configuration.
    pub fn refuse(&self) -> Result<(), Failure> {
        match self.refusals.is_empty() {
            true => Ok(()),
            false => Err(Failure::Usage(format!("refused: {}", self.refusals.join("\nrefused: ")))),
        }
    }

    /// What is given up, for whoever starts it all the same.
    pub fn warn(&self) {
        for loss in &self.gives_up {
            eprintln!("gives up: {loss}");
        }
    }

    fn tell_outside(&mut self, config: &Config) {
        if !config.listen.ip().is_loopback() {
            let listen = config.listen;
            let loss =
                format!("{listen} is reached from other hosts, and speaks no TLS: put a proxy before it");
            self.gives_up.push(loss);
        }
    }

    fn tell_events(&mut self, config: &Config) {
        let policy = &config.gateway.policy;
        let endpoints = config.gateway.inbound.iter().flat_map(|inbound| &inbound.endpoints);
        let hears_statuses = endpoints.into_iter().any(|endpoint| endpoint.scheme == Scheme::Hub);
        if config.gateway.provider.ability == Ability::Echoing {
            if hears_statuses {
                let promise = "what is `unknown` is settled by a status that bears our reference (S10, W11)";
                self.promises.push(promise.into());
            } else {
                let loss = "no webhook of scheme \"hub\" hears the provider's statuses: none of them settles what is \
                            `unknown` (W11)";
                self.gives_up.push(loss.into());
            }
        }
        if config.gateway.inbound.is_none() {
            return;
        }
        match policy.answers {
            Answers::Durable => {
                self.promises.push(format!(
                    "a webhook is answered with 200 only when its events are on the disk, and an event's id acts once \
                     for {} (W1, W6)",
                    plain(policy.inbox_kept)
                ));
                if policy.inbox_kept >= policy.event_horizon() {
                    self.promises.push(format!(
                        "an id is known for longer than its event may come or be redriven, which is {} (M3)",
                        plain(policy.event_horizon())
                    ));
                }
            }
            Answers::Memory => {
                let loss = "a restart forgets events that were answered with 200 (W6)";
                self.gives_up.push(loss.into());
            }
        }
    }
}

/// Prints what is to be said, unless the configuration is refused.
pub fn print(config: &Config) -> Result<(), Failure> {
    let report = Report::of(config);
    report.refuse()?;
    for promise in &report.promises {
        println!("promises: {promise}");
    }
    for loss in &report.gives_up {
        println!("gives up: {loss}");
    }
    Ok(())
}

/// What a policy that is not refused holds to.
fn promises(policy: &Policy, ability: Ability) -> Vec<String> {
    let kept = policy.ttl.saturating_add(policy.tombstone);
    let while_running = match policy.answers {
        Answers::Durable => "",
        Answers::Memory => ", while it runs",
    };
    let mut promises = vec![
        format!("a key acts once for at least {}{while_running} (S2, S5)", plain(kept)),
        format!(
            "a lease of {} outlasts the provider's timeout and the skew ({}): who takes over finds the first attempt \
             over (S10)",
            plain(policy.lease),
            plain(policy.provider_timeout + policy.skew)
        ),
        format!(
            "an upload has at most {} MiB, {CONCURRENT_FORMS} are held at a time, on the disk (S8)",
            MAX_FORM / (1024 * 1024)
        ),
    ];
    if policy.answers == Answers::Durable {
        let durable = "a claim, a mark and an answer are on the disk (SQLite, synchronous=FULL) before anything \
                       follows from them (S5, S10)";
        promises.push(durable.into());
    }
    if policy.store_down == StoreDown::Refuse {
        promises.push("while the store is down nothing is sent, and callers hear 503 (S7)".into());
    }
    if policy.ambiguous == Ambiguous::Unknown {
        promises.push("an outcome that cannot be told is `unknown`, and never guessed (S6, S10)".into());
    }
    match ability {
        Ability::Keyed { retention } => promises.push(format!(
            "what is `unknown` is asked again under the same key, for {} (S10)",
            plain(retention.saturating_sub(policy.dead_after()))
        )),
        Ability::Queryable => {
            promises.push("what is `unknown` is looked up at the provider by our reference (S10)".into());
        }
        // Whether statuses are heard is a matter of the webhooks.
        Ability::Echoing | Ability::Opaque => {}
    }
    promises
}
