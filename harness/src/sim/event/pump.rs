//! The engine's loop: deliver what is due, apply faults, collect what hosts send, let faults take their part,
//! and wait for the next thing to happen. Nothing ticks: quiet time costs nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::Arc,
};

use tokio::time::{Duration, Instant};
use turmoil_net::{EnterGuard, NetstatState, Packet, TcpSegment, netstat};

use super::{
    hosts::Hosts,
    lane::{Lane, LaneName, is_opening, is_pure_ack},
    world::HostWorld,
};
use crate::{
    history::Event,
    sim::{
        action::Action,
        chance::Chance,
        clock,
        digest::Kind,
        engine::{Cost, Play},
        stage::Fate,
    },
};

/// A packet takes from this many milliseconds …
const LATENCY_MIN_MS: u64 = 1;
/// … to this many.
const LATENCY_MAX_MS: u64 = 2;

/// The network between the hosts, and the hand that hurts it.
pub struct Pump<'a> {
    play: &'a Play,
    net: &'a EnterGuard,
    hosts: Arc<Hosts>,
    chance: Chance,
    began: Instant,
    /// By arrival, then by a seeded tie-break, then by departure.
    flying: BTreeMap<(u64, u64, u64), Packet>,
    lanes: BTreeMap<LaneName, Lane>,
    /// Directions between hosts that are cut, and whether their packets are lost.
    cuts: BTreeMap<(usize, usize), bool>,
    held: Vec<Packet>,
    /// How much longer packets take in a direction, in milliseconds.
    slow: BTreeMap<(usize, usize), u64>,
    /// Lanes that lost a segment. This stack never fills the hole, so they are reset when faults heal.
    holed: BTreeSet<LaneName>,
    /// Hosts that died silently: nothing reaches or leaves them.
    dark: BTreeSet<usize>,
    refusing: BTreeSet<usize>,
    /// Hosts that were told to stop and have not ended yet.
    stopping: BTreeSet<usize>,
    incarnations: Vec<u32>,
    departed: u64,
    outgoing: Vec<Packet>,
    healed_ms: Option<u64>,
    cost: Cost,
}

impl<'a> Pump<'a> {
    /// A pump for hosts that do not run yet.
    pub fn new(play: &'a Play, net: &'a EnterGuard, hosts: Arc<Hosts>, chance: Chance) -> Self {
        let incarnations = vec![0; hosts.len()];
        Self {
            play,
            net,
            hosts,
            chance,
            began: Instant::now(),
            flying: BTreeMap::new(),
            lanes: BTreeMap::new(),
            cuts: BTreeMap::new(),
            held: Vec::new(),
            slow: BTreeMap::new(),
            holed: BTreeSet::new(),
            dark: BTreeSet::new(),
            refusing: BTreeSet::new(),
            stopping: BTreeSet::new(),
            incarnations,
            departed: 0,
            outgoing: Vec::new(),
            healed_ms: None,
            cost: Cost::default(),
        }
    }

    /// Starts every host and runs until the bound after the heal has passed.
    pub async fn run(&mut self) -> Cost {
        for host in 0..self.hosts.len() {
            self.start(host);
        }
        loop {
            self.cost.iterations += 1;
            let now_ms = self.now_ms();
            self.land(now_ms);
            self.apply_due(now_ms);
            self.bury_ended(now_ms);
            self.lift(now_ms);
            if self.is_over(now_ms) {
                self.play.cast.curtain(now_ms);
                self.cost.simulated_ms = now_ms;
                return self.cost;
            }
            self.wait().await;
        }
    }

    fn now_ms(&self) -> u64 {
        clock::ms(self.began.elapsed())
    }

    async fn wait(&self) {
        let stage = &self.play.stage;
        let next_packet_ms = self.flying.first_key_value().map(|((at_ms, _, _), _)| *at_ms);
        let over_ms = self.healed_ms.map(|healed_ms| healed_ms + self.play.bound_ms);
        let next_ms = [next_packet_ms, stage.next_due_ms(), over_ms].into_iter().flatten().min();
        match next_ms {
            Some(at_ms) => {
                let at = self.began + Duration::from_millis(at_ms);
                tokio::select! {
                    biased;
                    () = stage.kick.notified() => {}
                    () = tokio::time::sleep_until(at) => {}
                }
            }
            None => stage.kick.notified().await,
        }
    }

    /// Heals once all steps are done, and says whether the bound after that has passed.
    fn is_over(&mut self, now_ms: u64) -> bool {
        match self.healed_ms {
            Some(healed_ms) => now_ms >= healed_ms + self.play.bound_ms,
            None => {
                if self.play.stage.quiet() {
                    for action in self.play.stage.heal(now_ms) {
                        self.apply(action, now_ms);
                    }
                    self.reset_holed(|_| true);
                    self.play.stage.applied();
                    self.healed_ms = Some(now_ms);
                    self.lift(now_ms);
                }
                false
            }
        }
    }

    /// Delivers every packet that arrives by now.
    fn land(&mut self, now_ms: u64) {
        while let Some(next) = self.flying.first_entry() {
            if next.key().0 > now_ms {
                return;
            }
            let packet = next.remove();
            if !self.hosts.by_ip(packet.dst).is_some_and(|host| self.dark.contains(&host)) {
                self.deliver(packet);
            }
        }
    }

    fn apply_due(&mut self, now_ms: u64) {
        let mut any = false;
        while let Some(due) = self.play.stage.due(now_ms) {
            any = true;
            for action in due.actions {
                self.apply(action, now_ms);
            }
        }
        if any {
            self.play.stage.applied();
        }
    }

    fn apply(&mut self, action: Action, now_ms: u64) {
        match action {
            Action::Cut { from, to, lost } => {
                let link = (self.hosts.by_name(&from), self.hosts.by_name(&to));
                self.cuts.insert(link, lost);
            }
            Action::Mend { from, to } => self.mend(&from, &to, now_ms),
            Action::Kill { host, silent } => self.kill(self.hosts.by_name(&host), silent),
            Action::Stop(host) => self.stop(self.hosts.by_name(&host), &host),
            Action::Start(host) => self.start(self.hosts.by_name(&host)),
            Action::Freeze(host) => self.hosts.freeze(self.hosts.by_name(&host)),
            Action::Thaw(host) => self.hosts.thaw(self.hosts.by_name(&host)),
            Action::Refuse(host) => {
                self.refusing.insert(self.hosts.by_name(&host));
            }
            Action::Admit(host) => {
                self.refusing.remove(&self.hosts.by_name(&host));
            }
            Action::Slow { from, to, by_ms } => {
                self.slow.insert((self.hosts.by_name(&from), self.hosts.by_name(&to)), by_ms);
            }
            Action::SetClock { host, offset_ms } => {
                self.hosts.set_clock(self.hosts.by_name(&host), offset_ms);
            }
            Action::Change(change) => self.play.cast.change(&change),
        }
    }

    fn mend(&mut self, from: &str, to: &str, now_ms: u64) {
        let link = (self.hosts.by_name(from), self.hosts.by_name(to));
        self.cuts.remove(&link);
        for packet in std::mem::take(&mut self.held) {
            match self.link(&packet) {
                Some(its) if its == link => self.fly(packet, 0, now_ms),
                _ => self.held.push(packet),
            }
        }
        let hosts = Arc::clone(&self.hosts);
        self.reset_holed(|lane| {
            let ends = (hosts.by_ip(lane.source.ip()), hosts.by_ip(lane.destination.ip()));
            ends == (Some(link.0), Some(link.1))
        });
    }

    /// Resets both ends of the connections that lost a segment.
    fn reset_holed(&mut self, which: impl Fn(&LaneName) -> bool) {
        let (reset, kept): (BTreeSet<_>, BTreeSet<_>) =
            std::mem::take(&mut self.holed).into_iter().partition(|lane| which(lane));
        self.holed = kept;
        for lane in reset {
            for lane in [lane, lane.back()] {
                let dark = self.hosts.by_ip(lane.destination.ip()).is_some_and(|h| self.dark.contains(&h));
                if !dark {
                    self.deliver(lane.reset());
                }
            }
        }
    }

    /// A connection that never opened belongs to its listener, which takes it along when it closes. This stack
    /// forgets whose it is once it is reset, and holds the port for ever: such resets are swallowed.
    fn deliver(&self, packet: Packet) {
        let unborn = LaneName::of(&packet).is_some_and(|(name, segment)| {
            segment.flags.rst
                && netstat(packet.dst).entries.iter().any(|entry| {
                    entry.peer == Some(name.source)
                        && entry.local.port() == name.destination.port()
                        && entry.state == Some(NetstatState::SynReceived)
                })
        });
        if !unborn {
            self.net.deliver(packet);
        }
    }

    fn kill(&mut self, host: usize, silent: bool) {
        if !self.hosts.alive(host) {
            return;
        }
        self.stopping.remove(&host);
        self.hosts.kill(host);
        if silent {
            self.dark.insert(host);
            self.forget_connections(host);
        }
    }

    /// A process that does not listen dies of it.
    fn stop(&mut self, host: usize, name: &str) {
        if !self.hosts.alive(host) {
            return;
        }
        match self.play.cast.stop(name) {
            true => _ = self.stopping.insert(host),
            false => self.kill(host, false),
        }
    }

    /// A process that was told to stop and whose program has returned is no more, nor is any task of it.
    fn bury_ended(&mut self, now_ms: u64) {
        let ended: Vec<usize> =
            self.stopping.iter().copied().filter(|host| self.hosts.ended(*host)).collect();
        for host in ended {
            let (name, _, _) = self.hosts.describe(host);
            self.play.stage.record(now_ms, &name, Event::Exit);
            self.kill(host, false);
        }
    }

    /// Wipes what is left of a dead host's connections, unheard by anybody: its ports are free again.
    fn forget_connections(&mut self, host: usize) {
        let (_, ip, _) = self.hosts.describe(host);
        self.collect_except(ip);
        for entry in netstat(ip).entries {
            if let Some(peer) = entry.peer {
                self.net.deliver(LaneName { source: peer, destination: entry.local }.reset());
            }
        }
        self.collect_except(ip);
    }

    fn collect_except(&mut self, ip: IpAddr) {
        let before = self.outgoing.len();
        self.net.egress_all(&mut self.outgoing);
        let unheard = self.outgoing.split_off(before).into_iter().filter(|packet| packet.src != ip);
        self.outgoing.extend(unheard);
    }

    fn start(&mut self, host: usize) {
        if self.hosts.alive(host) {
            return;
        }
        let (name, _, generation) = self.hosts.describe(host);
        if self.incarnations[host] > 0 {
            self.forget_connections(host);
        }
        self.dark.remove(&host);
        self.incarnations[host] += 1;
        let incarnation = self.incarnations[host];
        self.play.stage.record(self.now_ms(), &name, Event::Start { incarnation });
        self.hosts.revive(host);
        let world = Arc::new(HostWorld {
            hosts: Arc::clone(&self.hosts),
            stage: Arc::clone(&self.play.stage),
            host,
            name: name.clone(),
            generation,
            began: self.began,
        });
        let program = self.play.cast.program(&name, world);
        let hosts = Arc::clone(&self.hosts);
        let program = Box::pin(async move {
            program.await;
            hosts.end(host, generation);
        });
        self.hosts.spawn(host, generation, program);
    }

    /// Collects what the hosts have sent, and sends it on its way.
    fn lift(&mut self, now_ms: u64) {
        self.net.egress_all(&mut self.outgoing);
        while !self.outgoing.is_empty() {
            for packet in std::mem::take(&mut self.outgoing) {
                self.carry(packet, now_ms);
            }
        }
    }

    fn link(&self, packet: &Packet) -> Option<(usize, usize)> {
        Some((self.hosts.by_ip(packet.src)?, self.hosts.by_ip(packet.dst)?))
    }

    fn carry(&mut self, packet: Packet, now_ms: u64) {
        let Some(link) = self.link(&packet) else { return };
        let Some((name, segment)) = LaneName::of(&packet) else { return };
        if self.dark.contains(&link.0) {
            return;
        }
        self.cost.packets += 1;
        self.digest(link, segment);
        if is_opening(segment) && self.refusing.contains(&link.1) {
            self.net.deliver(name.back().reset());
            return;
        }
        let fate = self.fate(link, name, segment, now_ms);
        match self.cuts.get(&link) {
            Some(true) => {
                self.holed.insert(name);
                return;
            }
            Some(false) => {
                self.held.push(packet);
                return;
            }
            None => {}
        }
        match fate {
            Fate::Lost => {
                self.holed.insert(name);
            }
            Fate::Late(by_ms) => self.fly(packet, by_ms, now_ms),
            Fate::Passes if is_pure_ack(segment) => self.net.deliver(packet),
            Fate::Passes => self.fly(packet, self.slow.get(&link).copied().unwrap_or(0), now_ms),
        }
    }

    /// What becomes of this segment: that of the message to which it belongs.
    fn fate(&mut self, link: (usize, usize), name: LaneName, segment: &TcpSegment, now_ms: u64) -> Fate {
        if segment.payload.is_empty() {
            return Fate::Passes;
        }
        let lane = self.lanes.entry(name).or_insert_with(|| Lane::new(name));
        if lane.tap.feed(&segment.payload) {
            let (from, to) = (self.hosts.describe(link.0).0, self.hosts.describe(link.1).0);
            lane.fate = self.play.stage.message(now_ms, &from, &to);
            self.cost.messages += 1;
        }
        let fate = lane.fate;
        if self.play.stage.next_due_ms().is_some_and(|due_ms| due_ms <= now_ms) {
            self.apply_due(now_ms);
        }
        fate
    }

    fn digest(&self, link: (usize, usize), segment: &TcpSegment) {
        let flags = segment.flags;
        let flags = [flags.syn, flags.ack, flags.fin, flags.rst].map(u8::from);
        let ends = [link.0 as u8, link.1 as u8];
        let ports = [segment.src_port.to_le_bytes(), segment.dst_port.to_le_bytes()].concat();
        let numbers = [segment.seq.to_le_bytes(), segment.ack.to_le_bytes()].concat();
        self.play.stage.digest(Kind::Packet, &[&ends, &ports, &numbers, &flags, &segment.payload]);
    }

    /// Queues a packet for its arrival: in order on its lane, in seeded order among the others of a millisecond.
    fn fly(&mut self, packet: Packet, extra_ms: u64, now_ms: u64) {
        let Some((name, _)) = LaneName::of(&packet) else { return };
        let latency_ms = self.chance.between(LATENCY_MIN_MS, LATENCY_MAX_MS) + extra_ms;
        let tie = self.chance.draw();
        let lane = self.lanes.entry(name).or_insert_with(|| Lane::new(name));
        let at_ms = now_ms + latency_ms;
        if at_ms > lane.last.0 {
            lane.last = (at_ms, tie);
        }
        let (at_ms, tie) = lane.last;
        self.departed += 1;
        self.flying.insert((at_ms, tie, self.departed), packet);
    }
}
