//! Hosts as sets of tasks, on one runtime: what lets a host be killed or frozen between two polls.

use std::{
    collections::BTreeMap,
    future::Future,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use onceproof_gateway::world::BoxFuture;
use turmoil_net::{HostId, set_current};

use crate::sim::stage::Stage;

/// All hosts of one run, by number.
pub struct Hosts {
    table: Mutex<Vec<Host>>,
    stage: Arc<Stage>,
}

struct Host {
    name: String,
    id: HostId,
    ip: IpAddr,
    /// Counts deaths. Whatever bears an older number runs and spawns nothing more.
    generation: u32,
    alive: bool,
    frozen: bool,
    /// Whether its program has returned.
    ended: bool,
    /// How far its wall clock is off.
    clock_offset_ms: i64,
    tasks: BTreeMap<u64, Arc<Slot>>,
    spawned: u64,
}

/// One task of a host. The future is taken out when the host dies.
#[derive(Default)]
struct Slot {
    future: Mutex<Option<BoxFuture<()>>>,
    waker: Mutex<Option<Waker>>,
}

impl Slot {
    fn wake(&self) {
        let waker = self.waker.lock().expect("no task panics while its waker is taken").take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn remember(&self, waker: &Waker) {
        let mut kept = self.waker.lock().expect("no task panics while its waker is set");
        if !kept.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *kept = Some(waker.clone());
        }
    }
}

/// Runs one slot as a tokio task: makes its host current, and tells the engine that something may have been sent.
struct Runner {
    hosts: Arc<Hosts>,
    host: usize,
    id: HostId,
    number: u64,
    slot: Arc<Slot>,
}

impl Future for Runner {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.slot.remember(context.waker());
        if self.hosts.lock()[self.host].frozen {
            return Poll::Pending;
        }
        let mut future = self.slot.future.lock().expect("a panic in a task ends the run");
        let Some(running) = future.as_mut() else {
            return Poll::Ready(());
        };
        set_current(self.id);
        let polled = running.as_mut().poll(context);
        if polled.is_ready() {
            *future = None;
            drop(future);
            self.hosts.lock()[self.host].tasks.remove(&self.number);
        }
        self.hosts.stage.kick.notify_one();
        polled
    }
}

impl Hosts {
    /// No hosts yet.
    pub fn new(stage: Arc<Stage>) -> Arc<Self> {
        Arc::new(Self { table: Mutex::new(Vec::new()), stage })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Host>> {
        self.table.lock().expect("a panic among the hosts ends the run")
    }

    /// Adds a host that does not run yet.
    pub fn add(&self, name: &str, id: HostId, ip: IpAddr) {
        self.lock().push(Host {
            name: name.into(),
            id,
            ip,
            generation: 0,
            alive: false,
            frozen: false,
            ended: false,
            clock_offset_ms: 0,
            tasks: BTreeMap::new(),
            spawned: 0,
        });
    }

    /// The number of the host with this name.
    pub fn by_name(&self, name: &str) -> usize {
        self.lock().iter().position(|host| host.name == name).expect("plans name known hosts only")
    }

    /// The number of the host with this address.
    pub fn by_ip(&self, ip: IpAddr) -> Option<usize> {
        self.lock().iter().position(|host| host.ip == ip)
    }

    /// Name, address and generation.
    pub fn describe(&self, host: usize) -> (String, IpAddr, u32) {
        let table = self.lock();
        (table[host].name.clone(), table[host].ip, table[host].generation)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether a process runs there.
    pub fn alive(&self, host: usize) -> bool {
        self.lock()[host].alive
    }

    /// From here on its tasks may run.
    pub fn revive(&self, host: usize) {
        let table = &mut self.lock()[host];
        table.alive = true;
        table.frozen = false;
        table.ended = false;
    }

    /// Spawns a task of the given incarnation. A dead incarnation spawns nothing.
    pub fn spawn(self: &Arc<Self>, host: usize, generation: u32, future: BoxFuture<()>) {
        let slot = Arc::new(Slot { future: Mutex::new(Some(future)), waker: Mutex::new(None) });
        let mut table = self.lock();
        let entry = &mut table[host];
        if entry.generation != generation {
            return;
        }
        entry.spawned += 1;
        let number = entry.spawned;
        entry.tasks.insert(number, Arc::clone(&slot));
        let runner = Runner { hosts: Arc::clone(self), host, id: entry.id, number, slot };
        drop(table);
        tokio::spawn(runner);
    }

    /// Drops every task of the host, in the order in which they were spawned, with that host current: its
    /// destructors run as those of a dying process do, and can neither spawn nor be heard if the death is silent.
    pub fn kill(&self, host: usize) {
        let (tasks, id) = {
            let entry = &mut self.lock()[host];
            entry.generation += 1;
            entry.alive = false;
            entry.frozen = false;
            (std::mem::take(&mut entry.tasks), entry.id)
        };
        set_current(id);
        for slot in tasks.values() {
            let future = slot.future.lock().expect("a host is killed between two polls").take();
            drop(future);
            slot.wake();
        }
    }

    /// Its program has returned.
    pub fn end(&self, host: usize, generation: u32) {
        let entry = &mut self.lock()[host];
        entry.ended |= entry.generation == generation;
    }

    /// Whether its program has returned since it was started last.
    pub fn ended(&self, host: usize) -> bool {
        self.lock()[host].ended
    }

    /// Sets its wall clock off by so much.
    pub fn set_clock(&self, host: usize, offset_ms: i64) {
        self.lock()[host].clock_offset_ms = offset_ms;
    }

    /// How far its wall clock is off.
    pub fn clock_offset_ms(&self, host: usize) -> i64 {
        self.lock()[host].clock_offset_ms
    }

    /// Its tasks are not polled until it thaws.
    pub fn freeze(&self, host: usize) {
        self.lock()[host].frozen = true;
    }

    /// All its tasks look again at what they were waiting for.
    pub fn thaw(&self, host: usize) {
        let tasks: Vec<Arc<Slot>> = {
            let entry = &mut self.lock()[host];
            entry.frozen = false;
            entry.tasks.values().cloned().collect()
        };
        for slot in tasks {
            slot.wake();
        }
    }
}
