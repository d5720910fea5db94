//! The loop: apply the faults that are due, then let every host run for one tick; and where nothing stirs, let
//! all clocks jump to just before the next thing that is waited for.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use turmoil::Sim;

use super::{host::Host, links::Links, timers::Timers, world::HostWorld};
use crate::{
    history::Event,
    sim::{
        action::Action,
        chance::Chance,
        engine::{CannotPlay, Cost, Play},
    },
};

/// How long a step takes that does not jump.
const TICK_MS: u64 = 1;
/// A message takes from this many milliseconds …
const LATENCY_MIN_MS: u64 = 1;
/// … to this many.
const LATENCY_MAX_MS: u64 = 2;
/// turmoil draws latencies from an exponential curve. With this rate, ln 2, half of them are the longer one.
const LATENCY_CURVE: f64 = std::f64::consts::LN_2;
/// More than the connections and segments that any case has waiting at one socket: turmoil panics beyond.
const SOCKET_CAPACITY: usize = 4096;
/// Answers to openings and flow control wake their host outside of the links, where only the next step sees it.
const QUIET_STEPS: u32 = 2;
const KNOWN: &str = "plans name known hosts only";

/// Everything of one run on this engine.
pub struct Director<'a> {
    play: &'a Play,
    sim: Sim<'static>,
    timers: Arc<Timers>,
    links: Arc<Links>,
    hosts: BTreeMap<String, Host>,
    /// Whether anything was done to the hosts since the last step: at first, they were started.
    acted: bool,
    quiet_steps: u32,
    healed_ms: Option<u64>,
    /// Packets and messages stay 0: turmoil tells what is under way, not what has been sent.
    cost: Cost,
}

impl<'a> Director<'a> {
    /// A run whose hosts do not run yet.
    pub fn new(play: &'a Play) -> Self {
        let sim = turmoil::Builder::new()
            .rng_seed(play.seed)
            .epoch(std::time::UNIX_EPOCH)
            .tick_duration(Duration::from_millis(TICK_MS))
            .min_message_latency(Duration::from_millis(LATENCY_MIN_MS))
            .max_message_latency(Duration::from_millis(LATENCY_MAX_MS))
            .tcp_capacity(SOCKET_CAPACITY)
            .enable_random_order()
            .build();
        sim.set_message_latency_curve(LATENCY_CURVE);
        Self {
            play,
            sim,
            timers: Arc::default(),
            links: Arc::default(),
            hosts: BTreeMap::new(),
            acted: true,
            quiet_steps: 0,
            healed_ms: None,
            cost: Cost::default(),
        }
    }

    /// Starts every host and runs until the bound after the heal has passed.
    pub fn run(mut self) -> Result<Cost, CannotPlay> {
        let mut names = self.play.hosts.clone();
        Chance::new(self.play.seed, "network").shuffle(&mut names);
        for name in names {
            let ip = self.sim.lookup(name.as_str());
            self.hosts.insert(name.clone(), Host::new(ip));
            self.start(&name);
        }
        loop {
            self.cost.iterations += 1;
            let now_ms = self.timers.now_ms();
            self.apply_due(now_ms);
            if self.is_over(now_ms) {
                self.play.cast.curtain(now_ms);
                self.cost.simulated_ms = now_ms;
                return Ok(self.cost);
            }
            let jump_ms = self.find_jump(now_ms)?;
            self.step(jump_ms);
        }
    }

    fn apply_due(&mut self, now_ms: u64) {
        while let Some(due) = self.play.stage.due(now_ms) {
            for action in due.actions {
                self.apply(action);
            }
            self.acted = true;
        }
        if self.acted {
            self.play.stage.applied();
        }
    }

    /// Heals once all steps are done, and says whether the bound after that has passed.
    fn is_over(&mut self, now_ms: u64) -> bool {
        if let Some(over_ms) = self.over_ms() {
            return now_ms >= over_ms;
        }
        if self.play.stage.quiet() {
            for action in self.play.stage.heal(now_ms) {
                self.apply(action);
            }
            self.play.stage.applied();
            self.acted = true;
            self.healed_ms = Some(now_ms);
        }
        false
    }

    fn over_ms(&self) -> Option<u64> {
        self.healed_ms.map(|healed_ms| healed_ms + self.play.bound_ms)
    }

    fn apply(&mut self, action: Action) {
        match action {
            Action::Cut { from, to, .. } => self.cut(&from, &to),
            Action::Mend { from, to } => self.mend(&from, &to),
            Action::Kill { host, silent } => self.kill(&host, silent),
            Action::Start(host) => self.start(&host),
            Action::Change(change) => self.play.cast.change(&change),
            Action::Stop(_)
            | Action::Freeze(_)
            | Action::Thaw(_)
            | Action::Refuse(_)
            | Action::Admit(_)
            | Action::Slow { .. }
            | Action::SetClock { .. } => {
                unreachable!("such a plan is refused before it starts")
            }
        }
    }

    fn cut(&mut self, from: &str, to: &str) {
        let road = (self.host(from).ip, self.host(to).ip);
        let mut under_way = Vec::new();
        self.sim.links(|links| {
            let ends = links.flatten().map(|message| message.pair());
            under_way.extend(ends.filter(|(source, target)| (source.ip(), target.ip()) == road));
        });
        self.links.cut(road, under_way);
        self.set_road(from, to);
    }

    fn mend(&mut self, from: &str, to: &str) {
        self.links.mend((self.host(from).ip, self.host(to).ip));
        self.set_road(from, to);
    }

    fn kill(&mut self, name: &str, silent: bool) {
        let host = self.host_mut(name);
        if !host.is_alive() {
            return;
        }
        host.die();
        let ip = host.ip;
        self.links.darken(ip, silent);
        // Before the crash, so that nobody hears the last words of a silent death.
        self.set_roads_of(name);
        self.sim.crash(name);
    }

    fn start(&mut self, name: &str) {
        let host = self.host(name);
        if host.is_alive() {
            return;
        }
        let (ip, incarnation) = (host.ip, host.incarnations() + 1);
        let event = Event::Start { incarnation };
        self.play.stage.record(self.timers.now_ms(), name, event);
        self.links.darken(ip, false);
        let world = HostWorld {
            name: name.into(),
            ip,
            stage: Arc::clone(&self.play.stage),
            timers: Arc::clone(&self.timers),
            links: Arc::clone(&self.links),
            tasks: Arc::default(),
        };
        let host = self.hosts.get_mut(name).expect(KNOWN);
        host.start(&mut self.sim, &self.play.cast, world);
        self.set_roads_of(name);
    }

    /// Lets through in both directions what may pass between this host and the others.
    fn set_roads_of(&self, name: &str) {
        let started = self.hosts.iter().filter(|(_, host)| host.incarnations() > 0);
        for (other, _) in started.filter(|(other, _)| *other != name) {
            self.set_road(name, other);
            self.set_road(other, name);
        }
    }

    /// A host that died loudly takes nothing either: else turmoil keeps what is sent to it, and an opening
    /// hangs until the restart, where a living kernel refuses at once.
    fn set_road(&self, from: &str, to: &str) {
        let (source, target) = (self.host(from), self.host(to));
        let road = (source.ip, target.ip);
        if !target.is_alive() || self.links.swallows(road) {
            self.sim.partition_oneway(source.ip, target.ip);
        } else {
            self.sim.repair_oneway(source.ip, target.ip);
        }
    }

    /// How far all clocks may jump in the next step.
    fn find_jump(&mut self, now_ms: u64) -> Result<Option<u64>, CannotPlay> {
        if self.is_quiet() {
            self.quiet_steps += 1;
        } else {
            self.quiet_steps = 0;
        }
        if self.quiet_steps < QUIET_STEPS {
            return Ok(None);
        }
        let next_ms = [self.timers.next_ms(), self.play.stage.next_due_ms(), self.over_ms()];
        let next_ms = next_ms.into_iter().flatten().min().ok_or_else(|| {
            CannotPlay(format!("since {now_ms} ms every host waits for what will never come"))
        })?;
        let jump_ms = next_ms.saturating_sub(now_ms + TICK_MS);
        Ok((jump_ms > TICK_MS).then_some(jump_ms))
    }

    /// Whether nothing ran in the last step, is on its way, or has been changed from outside.
    fn is_quiet(&mut self) -> bool {
        let mut stirs = std::mem::take(&mut self.acted) | self.timers.due();
        for host in self.hosts.values() {
            stirs |= host.was_active();
        }
        self.sim.links(|links| stirs |= links.flatten().next().is_some());
        !stirs
    }

    /// Every living host runs for a tick, or until it has jumped.
    fn step(&mut self, jump_ms: Option<u64>) {
        if let Some(jump_ms) = jump_ms {
            for host in self.hosts.values() {
                host.jump(Duration::from_millis(jump_ms));
            }
        }
        self.sim.step().expect("a panic in a task ends the run");
        self.timers.pass(jump_ms.unwrap_or(TICK_MS));
    }

    fn host(&self, name: &str) -> &Host {
        self.hosts.get(name).expect(KNOWN)
    }

    fn host_mut(&mut self, name: &str) -> &mut Host {
        self.hosts.get_mut(name).expect(KNOWN)
    }
}
